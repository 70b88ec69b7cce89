/* SPDX-License-Identifier: MIT */
/* Fields of many structs: objects of some type, IDs, threads, fibers, lists. */
#include "proof/check.h"

/* An ID of the symbol table. Silent if there is no symbol table. */
CHECK(an_id)
{
	uint64_t id;
	if (!get(s, base, field, &id))
		return RCORE_FAILS;
	return s->ruby->global_symbols ? verdict_of(has_name(s, id)) : RCORE_SILENT;
}

CHECK(a_value)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? verdict_of(is_value(s, value)) : RCORE_SILENT;
}

CHECK(an_object)
{
	return object_of(s, base, field, ~(TYPE(NONE) | TYPE(IMEMO)));
}

CHECK(a_string)
{
	return object_of(s, base, field, TYPE(STRING));
}

CHECK(an_array)
{
	return object_of(s, base, field, TYPE(ARRAY));
}

CHECK(a_data)
{
	return object_of(s, base, field, TYPE(DATA));
}

/* nil or a String; NULL in a struct that is not set up */
CHECK(a_name)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (!value)
		return RCORE_SILENT;
	return verdict_of(rcore_is_nil(s->ruby, value) || is_object(s, value, TYPE(STRING)));
}

CHECK(a_flag)
{
	return at_most(s, base, field, 1);
}

/* Whether the object wraps the struct at `address`. */
static bool wraps(const struct rcore_samples *s, uint64_t value, uint64_t address)
{
	return is_object(s, value, TYPE(DATA)) &&
	       leads(s, value, &layout_of(s)->data.data, address);
}

/* The object that wraps this struct. */
CHECK(own_object)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? verdict_of(wraps(s, value, base)) : RCORE_SILENT;
}

CHECK(an_iseq)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? verdict_of(is_imemo(s, value, layout_of(s)->traits.imemo_iseq))
		     : RCORE_SILENT;
}

CHECK(a_class)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? verdict_of(
			       is_object(s, value, TYPE(CLASS) | TYPE(MODULE) | TYPE(ICLASS)))
		     : RCORE_SILENT;
}

/* Never HOLDS; FAILS for a value that is not a pointer. */
CHECK(pointer_or_null)
{
	uint64_t value;
	if (!get(s, base, field, &value) || (value && !readable(s, value)))
		return RCORE_FAILS;
	return RCORE_SILENT;
}

CHECK(a_pointer)
{
	uint64_t pointer;
	return verdict_of(get(s, base, field, &pointer) && readable(s, pointer));
}

/* A C function. Silent if it is NULL, or the core does not name its files. */
CHECK(a_function)
{
	uint64_t function;
	if (!get(s, base, field, &function))
		return RCORE_FAILS;
	return function && s->process && s->process->mapping_count
		       ? verdict_of(rcore_process_mapping(s->process, function) != NULL)
		       : RCORE_SILENT;
}

CHECK(a_list)
{
	return list_closes(s, member(base, field), NULL);
}

/* A number that starts at one. */
CHECK(serial)
{
	return at_most(s, base, field, UINT32_MAX);
}

/*
 * The word of bit-fields. It is zero only in a running thread for which none is
 * set.
 */
CHECK(flag_word)
{
	enum { KNOWN_BITS = 10 };
	struct rcore_field word = {.offset = field->offset, .size = sizeof(uint32_t)};
	uint64_t value;
	if (!get(s, base, &word, &value) || value >> KNOWN_BITS)
		return RCORE_FAILS;
	return value ? RCORE_HOLDS : RCORE_SILENT;
}

CHECK(a_thread)
{
	uint64_t thread;
	if (!get(s, base, field, &thread))
		return RCORE_FAILS;
	return thread ? verdict_of(is_thread(s, thread)) : RCORE_SILENT;
}

CHECK(a_fiber)
{
	uint64_t fiber;
	if (!get(s, base, field, &fiber))
		return RCORE_FAILS;
	return fiber ? verdict_of(is_fiber(s, fiber)) : RCORE_SILENT;
}
