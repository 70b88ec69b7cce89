/* SPDX-License-Identifier: MIT */
#include "ruby/class_ivar.h"

#include <inttypes.h>

#include "ruby/get.h"
#include "ruby/id.h"
#include "ruby/st_table.h"

enum {
	IVAR_LIMIT = 1 << 16,
	SHAPE_LIMIT = 1 << 19, /* shapes that a process may have */
	SHAPE_IVAR = 1,        /* enum shape_type: an edge that adds an ivar */
	SHAPE_ID_SHIFT = 32,
};

static const char *const names[RCORE_CLASS_IVAR_COUNT] = {
	[RCORE_CLASSPATH] = "__classpath__",
	[RCORE_TMP_CLASSPATH] = "__tmp_classpath__",
	[RCORE_ATTACHED] = "__attached__",
};

/* Which of them an ID names, -1: none. They get their IDs when the process starts, so each is
 * known by its name once and by its number from then on. */
static struct rcore_error *which(struct rcore_ruby *ruby, uint64_t id, int *ret)
{
	*ret = -1;
	for (int i = 0; i < RCORE_CLASS_IVAR_COUNT; i++)
		if (ruby->class_name_ids[i] == id) {
			*ret = i;
			return NULL;
		}
	for (int i = 0; i < RCORE_CLASS_IVAR_COUNT; i++) {
		bool same;
		if (ruby->class_name_ids[i])
			continue;
		struct rcore_error *err = rcore_id_is(ruby, id, names[i], &same);
		if (err)
			return err;
		if (same) {
			ruby->class_name_ids[i] = id;
			*ret = i;
			return NULL;
		}
	}
	return NULL;
}

static struct rcore_error *from_table(struct rcore_ruby *ruby, uint64_t table, uint64_t *ret)
{
	struct rcore_st_iterator iterator;
	uint64_t id, value;
	bool found;
	int i;
	struct rcore_error *err = rcore_st_begin(&iterator, ruby, table, IVAR_LIMIT);
	while (!err && !(err = rcore_st_next(&iterator, &found, &id, &value)) && found) {
		err = which(ruby, id, &i);
		if (!err && i >= 0)
			ret[i] = value;
	}
	return err;
}

static struct rcore_error *from_shape(struct rcore_ruby *ruby, uint64_t iv_ptr,
				      uint64_t shape_id, uint64_t *ret)
{
	uint32_t size = ruby->layout->shape.size;
	uint64_t type, id, next, parent;
	struct rcore_error *err = NULL;
	if (!ruby->shape_list)
		return rcore_error_create(RCORE_ERROR_FAULT,
					  "the list of shapes was not found");
	for (int steps = 0; steps < IVAR_LIMIT; steps++) {
		if (shape_id >= SHAPE_LIMIT)
			return rcore_error_create(RCORE_ERROR_CORRUPT, "no shape %" PRIu64,
						  shape_id);
		uint64_t shape = ruby->shape_list + shape_id * size;
		if ((err = RCORE_GET(ruby, shape, shape, type, &type)) ||
		    (err = RCORE_GET(ruby, shape, shape, edge_name, &id)) ||
		    (err = RCORE_GET(ruby, shape, shape, next_index, &next)) ||
		    (err = RCORE_GET(ruby, shape, shape, parent_id, &parent)))
			return err;
		int i = -1;
		if (type == SHAPE_IVAR && next > 0 && (err = which(ruby, id, &i)))
			return err;
		if (i >= 0) {
			uint64_t address = iv_ptr + (next - 1) * 8;
			enum rcore_fault fault = rcore_read_u64(ruby->memory, address, &ret[i]);
			if (fault != RCORE_FAULT_NONE)
				return rcore_fault_error(fault, "ivar of a class", address, 8);
		}
		if (parent == UINT32_MAX) /* INVALID_SHAPE_ID: that was the root */
			return NULL;
		shape_id = parent;
	}
	return rcore_error_create(RCORE_ERROR_LIMIT, "a shape has more than %d parents",
				  IVAR_LIMIT);
}

struct rcore_error *rcore_class_ivars(struct rcore_ruby *ruby, uint64_t ext, uint64_t flags,
				      uint64_t ret[RCORE_CLASS_IVAR_COUNT])
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t ivars;
	struct rcore_error *err;
	for (int i = 0; i < RCORE_CLASS_IVAR_COUNT; i++)
		ret[i] = 0;
	if (!ruby->global_symbols)
		return rcore_error_create(RCORE_ERROR_FAULT,
					  "the symbol table (global_symbols) was not found");
	if (rcore_has(&layout->classext.iv_tbl)) {
		err = RCORE_GET(ruby, ext, classext, iv_tbl, &ivars);
		return err || !ivars ? err : from_table(ruby, ivars, ret);
	}
	err = RCORE_GET(ruby, ext, classext, iv_ptr, &ivars);
	return err || !ivars ? err : from_shape(ruby, ivars, flags >> SHAPE_ID_SHIFT, ret);
}
