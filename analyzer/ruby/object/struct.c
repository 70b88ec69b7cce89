/* SPDX-License-Identifier: MIT */
#include "ruby/object/struct.h"

#include <inttypes.h>

#include "ruby/object/class.h"
#include "ruby/get.h"
#include "ruby/object/ivar.h"

enum {
	EMBED_LENGTH_SHIFT = RCORE_FL_USHIFT + 1, /* RSTRUCT_EMBED_LEN_SHIFT */
	MEMBER_LIMIT = 1 << 20,
	ANCESTOR_LIMIT = 1000,
};

struct rcore_error *rcore_struct(struct rcore_ruby *ruby, uint64_t value, uint64_t *members,
				 uint64_t *count)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t flags, length, start;
	struct rcore_error *err = rcore_flags(ruby, value, &flags);
	if (err)
		return err;
	if ((flags & RCORE_T_MASK) != RCORE_T_STRUCT)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is not a Struct",
					  value);
	length = flags >> EMBED_LENGTH_SHIFT & layout->traits.struct_embed_mask;
	if (length) {
		start = value + (uint64_t)layout->rstruct.embed_ary.offset;
	} else {
		err = RCORE_GET(ruby, value, rstruct, heap_ptr, &start);
		if (!err)
			err = RCORE_GET(ruby, value, rstruct, heap_len, &length);
	}
	if (err)
		return err;
	if (length > MEMBER_LIMIT)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "Struct 0x%" PRIx64 " has %" PRIu64 " members", value,
					  length);
	*members = start;
	*count = length;
	return NULL;
}

struct rcore_error *rcore_struct_members(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret)
{
	bool found = false;
	uint64_t klass;
	struct rcore_error *err = rcore_value_class(ruby, value, &klass);
	for (int steps = 0; !err && klass && steps < ANCESTOR_LIMIT; steps++) {
		enum rcore_type type;
		err = rcore_type(ruby, klass, &type);
		if (!err && type == RCORE_T_CLASS)
			err = rcore_ivar_get(ruby, klass, "__members__", &found, ret);
		if (!err && found)
			return NULL;
		if (!err)
			err = rcore_class_super(ruby, klass, &klass);
	}
	return err ? err
		   : rcore_error_create(RCORE_ERROR_CORRUPT,
					"the class of Struct 0x%" PRIx64
					" does not name its members",
					value);
}
