/* SPDX-License-Identifier: MIT */
#include "ruby/object/box.h"

#include <inttypes.h>

#include "ruby/heap/moved.h"
#include "ruby/object/class.h"
#include "ruby/object/data.h"
#include "ruby/object/ivar.h"
#include "ruby/object/st_table.h"

enum { BOX_LIMIT = 1 << 16 };

/*
 * The same in all of 4.0. The box says itself that it is one: its first word
 * leads back to the module.
 */
static bool read_box(struct rcore_ruby *ruby, uint64_t module, uint64_t at,
		     struct rcore_box *ret)
{
	enum { OBJECT = 0, ID = 8, FLAGS = 128 };
	uint8_t flags[2]; /* is_user, is_optional */
	if (rcore_read_u64(ruby->memory, at + OBJECT, &ret->object) ||
	    !rcore_is_same_object(ruby, ret->object, module) ||
	    rcore_read_u64(ruby->memory, at + ID, &ret->id) ||
	    rcore_read(ruby->memory, at + FLAGS, flags, sizeof(flags)) || flags[0] > 1 ||
	    flags[1] > 1)
		return false;
	ret->address = at;
	ret->is_user = flags[0];
	ret->is_optional = flags[1];
	return true;
}

struct rcore_error *rcore_box(struct rcore_ruby *ruby, uint64_t module, bool *found,
			      struct rcore_box *ret)
{
	struct rcore_data data = {0};
	uint64_t entry = 0;
	*found = false;
	struct rcore_error *err = rcore_ivar_get(ruby, module, "__box_entry__", found, &entry);
	if (!err && *found)
		err = rcore_data(ruby, entry, &data);
	if (!err && *found && !read_box(ruby, module, data.data, ret))
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "the Ruby::Box 0x%" PRIx64 " has no box", module);
	return err;
}

struct rcore_error *rcore_boxes(struct rcore_ruby *ruby, rcore_box_visit *visit, void *context)
{
	struct rcore_st_iterator iterator;
	struct rcore_box box;
	uint64_t object, table = 0, module, ext;
	bool found;
	if (!ruby->main_box || !ruby->top_self)
		return NULL;
	/* box_initialize() makes Object's first of all. */
	struct rcore_error *err = rcore_value_class(ruby, ruby->top_self, &object);
	if (!err)
		err = rcore_boxes_of_class(ruby, object, &table);
	if (err || !table)
		return err;
	err = rcore_st_begin(&iterator, ruby, table, BOX_LIMIT);
	while (!err && !(err = rcore_st_next(&iterator, &found, &module, &ext)) && found) {
		err = rcore_box(ruby, module, &found, &box);
		if (!err && found)
			err = visit(context, &box);
	}
	return err;
}
