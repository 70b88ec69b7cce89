/* SPDX-License-Identifier: MIT */
/* Method entries, their definitions, and Methods. */
#include "proof/check.h"

/* enum rb_method_type_t of method.h, the same from 2.6 to 4.0. */
enum {
	ISEQ,
	CFUNC,
	ATTRSET,
	IVAR,
	BMETHOD,
	ZSUPER,
	ALIAS,
	UNDEF,
	NOTIMPLEMENTED,
	OPTIMIZED,
	MISSING,
	REFINED,
};

CHECK(method_flags)
{
	return verdict_of(is_imemo(s, base, layout_of(s)->traits.imemo_ment));
}

CHECK(method_definition)
{
	uint64_t def, type;
	return verdict_of(get(s, base, field, &def) &&
			  get(s, def, &layout_of(s)->method_def.type, &type) && type <= 11);
}

static bool is_of(const struct rcore_samples *s, uint64_t definition, uint64_t type)
{
	return leads(s, definition, &layout_of(s)->method_def.type, type);
}

CHECK(method_iseq)
{
	uint64_t iseq;
	if (!is_of(s, base, ISEQ))
		return RCORE_SILENT;
	return verdict_of(get(s, base, field, &iseq) &&
			  is_imemo(s, iseq, layout_of(s)->traits.imemo_iseq));
}

CHECK(method_function)
{
	return is_of(s, base, CFUNC) ? rcore_check_a_function(s, base, field) : RCORE_SILENT;
}

/* The contents of the body must fit the type. */
CHECK(method_type)
{
	uint64_t type;
	if (!get(s, base, field, &type) || type > REFINED)
		return RCORE_FAILS;
	return type == ISEQ
		       ? rcore_check_method_iseq(s, base, &layout_of(s)->method_def.iseqptr)
	       : type == CFUNC ? rcore_check_method_function(
					 s, base, &layout_of(s)->method_def.cfunc_func)
			       : RCORE_SILENT;
}

/*
 * -1: the function gets its arguments as a C array; -2: as a Ruby Array;
 * otherwise their number
 */
CHECK(method_argc)
{
	enum { LEAST = -2, MOST = 15 };
	uint64_t argc;
	if (!is_of(s, base, CFUNC))
		return RCORE_SILENT;
	return verdict_of(get(s, base, field, &argc) && (int32_t)argc >= LEAST &&
			  (int32_t)argc <= MOST);
}

CHECK(method_alias)
{
	uint64_t original;
	if (!is_of(s, base, ALIAS))
		return RCORE_SILENT;
	return verdict_of(get(s, base, field, &original) &&
			  is_imemo(s, original, layout_of(s)->traits.imemo_ment));
}

CHECK(method_proc)
{
	return is_of(s, base, BMETHOD) ? object_of(s, base, field, TYPE(DATA)) : RCORE_SILENT;
}

/*
 * The location of an attr_accessor, if it is being traced: an Array of path and
 * line.
 */
CHECK(method_location)
{
	return is_of(s, base, ATTRSET) || is_of(s, base, IVAR)
		       ? object_of(s, base, field, TYPE(ARRAY))
		       : RCORE_SILENT;
}

CHECK(method_optimized)
{
	enum { TYPES = 5 };
	return is_of(s, base, OPTIMIZED) ? at_most(s, base, field, TYPES - 1) : RCORE_SILENT;
}

/* Most methods are called by the name with which they were defined. */
CHECK(method_name)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t definition, original, called;
	if (!get(s, base, &layout->cme.def, &definition) ||
	    !get(s, definition, field, &original) ||
	    !get(s, base, &layout->cme.called_id, &called))
		return RCORE_FAILS;
	return is_of(s, definition, ALIAS) ? RCORE_SILENT : verdict_of(original == called);
}

/* An UnboundMethod has no receiver. */
CHECK(method_receiver)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value == (uint64_t)layout_of(s)->constant.qundef
		       ? RCORE_SILENT
		       : verdict_of(is_value(s, value));
}

/*
 * From 3.2 on, an UnboundMethod's klass is Qundef (mnew_from_me() and
 * method_unbind() of proc.c).
 */
CHECK(method_klass)
{
	uint64_t value;
	if (get(s, base, field, &value) && value == (uint64_t)layout_of(s)->constant.qundef)
		return RCORE_SILENT;
	return object_of(s, base, field, TYPE(CLASS) | TYPE(MODULE) | TYPE(ICLASS));
}

CHECK(a_method_entry)
{
	uint64_t entry;
	return verdict_of(get(s, base, field, &entry) &&
			  is_imemo(s, entry, layout_of(s)->traits.imemo_ment));
}
