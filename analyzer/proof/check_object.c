/* SPDX-License-Identifier: MIT */
/*
 * Objects that contain others: Arrays, Structs, plain objects, T_DATA, Files.
 */
#include <string.h>

#include "proof/check.h"
#include "ruby/object/embedded.h"
#include "ruby/object/generic_ivar.h"
#include "ruby/object/ivar.h"

enum {
	ARRAY_EMBED_FLAG = 1 << (RCORE_FL_USHIFT + 1),
	ARRAY_EMBED_SHIFT = RCORE_FL_USHIFT + 3, /* RARRAY_EMBED_LEN_SHIFT */
	ARRAY_EMBED_MASK = 0x7f,
	STRUCT_EMBED_SHIFT = RCORE_FL_USHIFT + 1,
	IVARS = 64,
};

CHECK(basic_flags)
{
	uint64_t flags;
	return verdict_of(get(s, base, field, &flags) &&
			  (flags & RCORE_T_MASK) == RCORE_T_DATA);
}

CHECK(basic_klass)
{
	return object_of(s, base, field, TYPE(CLASS));
}

/* The first and the last element are VALUEs. */
static enum rcore_verdict are_values(const struct rcore_samples *s, uint64_t elements,
				     uint64_t count)
{
	uint64_t first, last;
	if (!count)
		return RCORE_SILENT;
	return verdict_of(count < COUNT_LIMIT && elements && word_at(s, elements, &first) &&
			  word_at(s, elements + (count - 1) * sizeof(last), &last) &&
			  is_value(s, first) && is_value(s, last));
}

CHECK(array_heap)
{
	uint64_t elements, count;
	const struct rcore_layout *layout = layout_of(s);
	if (flags_of(s, base) & ARRAY_EMBED_FLAG)
		return RCORE_SILENT;
	if (!get(s, base, &layout->array.heap_ptr, &elements) ||
	    !get(s, base, &layout->array.heap_len, &count))
		return RCORE_FAILS;
	return are_values(s, elements, count);
}

CHECK(array_embedded)
{
	uint64_t flags = flags_of(s, base);
	uint64_t count = flags >> ARRAY_EMBED_SHIFT & ARRAY_EMBED_MASK;
	if (!(flags & ARRAY_EMBED_FLAG) || !count)
		return RCORE_SILENT;
	return follows_class(s, base, field) ? are_values(s, member(base, field), count)
					     : RCORE_FAILS;
}

static uint64_t struct_count(const struct rcore_samples *s, uint64_t object)
{
	return flags_of(s, object) >> STRUCT_EMBED_SHIFT &
	       layout_of(s)->traits.struct_embed_mask;
}

CHECK(struct_heap)
{
	uint64_t elements, count;
	const struct rcore_layout *layout = layout_of(s);
	if (struct_count(s, base))
		return RCORE_SILENT;
	if (!get(s, base, &layout->rstruct.heap_ptr, &elements) ||
	    !get(s, base, &layout->rstruct.heap_len, &count))
		return RCORE_FAILS;
	return are_values(s, elements, count);
}

CHECK(struct_embedded)
{
	uint64_t count = struct_count(s, base);
	if (!count)
		return RCORE_SILENT;
	return follows_class(s, base, field) ? are_values(s, member(base, field), count)
					     : RCORE_FAILS;
}

/* The instance variables have names, and contain VALUEs. */
CHECK(object_values)
{
	struct rcore_ivars ivars = {0};
	rcore_auto_error err = rcore_ivars(s->ruby, base, IVARS, &ivars);
	bool holds = !rcore_sample_failed(s, err) || err->code == RCORE_ERROR_LIMIT;
	size_t named = 0; /* neither false nor unused memory */
	for (size_t i = 0; holds && i < ivars.count; i++) {
		holds = is_value(s, ivars.items[i].value);
		named += ivars.items[i].value && has_name(s, ivars.items[i].id);
	}
	free(ivars.items);
	return holds && !named ? RCORE_SILENT : verdict_of(holds);
}

/*
 * The same for an object whose instance variables are in the table of generic
 * ones (generic_iv_tbl of variable.c). Silent while st_update() rebuilds that
 * table, which cannot be read then.
 */
CHECK(generic_values)
{
	uint64_t record;
	rcore_auto_error err = rcore_generic_ivar(s->ruby, base, &record);
	return rcore_sample_failed(s, err) ? RCORE_SILENT
					   : rcore_check_object_values(s, base, field);
}

CHECK(object_embedded)
{
	return rcore_is_embedded(layout_of(s), flags_of(s, base))
		       ? rcore_check_object_values(s, base, field)
		       : RCORE_SILENT;
}

CHECK(object_heap)
{
	return rcore_is_embedded(layout_of(s), flags_of(s, base))
		       ? RCORE_SILENT
		       : rcore_check_object_values(s, base, field);
}

CHECK(data_typed_flag)
{
	enum { TYPED = 1, EMBEDDED = 2 };
	uint64_t flag;
	return verdict_of(get(s, base, field, &flag) && (flag & ~(uint64_t)EMBEDDED) == TYPED);
}

CHECK(data_type)
{
	uint64_t type;
	return verdict_of(get(s, base, field, &type) && readable(s, type & ~UINT64_C(1)));
}

CHECK(data_data)
{
	uint64_t thread;
	return verdict_of(get(s, base, field, &thread) && is_thread(s, thread));
}

/* The samples are Thread objects. */
CHECK(data_type_name)
{
	uint64_t address;
	char name[16];
	return verdict_of(get(s, base, field, &address) &&
			  !rcore_read_string(s->ruby->memory, address, name, sizeof(name)) &&
			  !strcmp(name, "VM/thread"));
}

CHECK(data_fields)
{
	uint64_t fields;
	if (!get(s, base, field, &fields))
		return RCORE_FAILS;
	return fields ? verdict_of(is_imemo(s, fields,
					    (unsigned)layout_of(s)->constant.imemo_fields))
		      : RCORE_SILENT;
}

/* The rb_io_t of a T_FILE has a plausible descriptor and path. */
CHECK(file_io)
{
	uint64_t io, path, fd;
	const struct rcore_layout *layout = layout_of(s);
	enum { FD_LIMIT = 1 << 20 };
	if (!get(s, base, &layout->file.fptr, &io))
		return RCORE_FAILS;
	return io ? verdict_of(
			    get(s, io, &layout->io.fd, &fd) &&
			    (fd < FD_LIMIT || fd == UINT32_MAX) &&
			    get(s, io, &layout->io.pathv, &path) &&
			    (rcore_is_nil(s->ruby, path) || is_object(s, path, TYPE(STRING))))
		  : RCORE_SILENT;
}
