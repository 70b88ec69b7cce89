/* SPDX-License-Identifier: MIT */
/*
 * Instance variables: the T_OBJECT of gc_mark_children(), imemo_fields of
 * rb_imemo_mark_and_move(), and rb_mark_generic_ivar() of variable.c.
 */
#include "ruby/children/children_private.h"

#include "ruby/object/fields.h"
#include "ruby/object/generic_ivar.h"
#include "ruby/object/shape.h"
#include "ruby/object/st_table.h"

enum { NAMED_LIMIT = 256, INDEX_LIMIT = 1 << 16 };

/*
 * Finds how many fields a shape has, and the IDs of the first ones. Fields
 * without a name (object_id) have the ID 0.
 */
static uint64_t fields_of_shape(struct rcore_children *children, uint32_t id,
				uint64_t ids[NAMED_LIMIT])
{
	struct rcore_shape shape;
	uint64_t count = 0;
	bool counted = false;
	for (unsigned steps = 0; steps < RCORE_SHAPE_DEPTH_LIMIT; steps++) {
		struct rcore_error *err = rcore_shape(children->ruby, id, &shape);
		rcore_child_failed(children, err);
		if (err)
			break;
		if (!counted)
			count = (uint64_t)shape.index + 1;
		counted = true;
		if (shape.is_root)
			break;
		if (shape.adds_ivar && shape.index < NAMED_LIMIT)
			ids[shape.index] = shape.edge;
		id = shape.parent;
	}
	return count <= UINT32_MAX ? count : 0;
}

static void mark_by_shape(struct rcore_children *children, const struct rcore_fields *fields)
{
	uint64_t ids[NAMED_LIMIT] = {0};
	uint64_t count = fields_of_shape(children, fields->shape, ids);
	uint64_t some = count < NAMED_LIMIT ? count : NAMED_LIMIT;
	uint64_t values[NAMED_LIMIT];
	if (!some)
		return;
	if (count > RCORE_CHILD_LIMIT ||
	    rcore_read(children->ruby->memory, fields->at, values, some * sizeof(*values))) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	for (uint64_t i = 0; i < some; i++)
		rcore_child_mark(children, values[i], RCORE_EDGE_IVAR, ids[i]);
	if (count > some)
		rcore_child_mark_values(children, fields->at + some * sizeof(*values),
					count - some, RCORE_EDGE_ELEMENT);
}

/* Up to 3.1: finds the IDs of the first indices. */
static void ids_of_indices(struct rcore_children *children, uint64_t table,
			   uint64_t ids[NAMED_LIMIT])
{
	const struct rcore_layout *layout = children->ruby->layout;
	struct rcore_st_iterator iterator;
	uint64_t key, record, index;
	bool found = true;
	if (!table)
		return;
	struct rcore_error *err = rcore_st_begin(&iterator, children->ruby, table, INDEX_LIMIT);
	while (!err && found) {
		err = rcore_st_next(&iterator, &found, &key, &record);
		if (err || !found)
			break;
		index = record;
		if (rcore_has(&layout->iv_index.index))
			index = RCORE_CHILD_READ(children, record, iv_index, index);
		if (index < NAMED_LIMIT)
			ids[index] = key;
	}
	rcore_child_failed(children, err);
}

static void mark_by_index(struct rcore_children *children, const struct rcore_fields *fields)
{
	uint64_t ids[NAMED_LIMIT] = {0}, values[NAMED_LIMIT];
	uint64_t some = fields->count < NAMED_LIMIT ? fields->count : NAMED_LIMIT;
	if (!some || !fields->at)
		return;
	ids_of_indices(children, fields->indices, ids);
	if (fields->count > RCORE_CHILD_LIMIT ||
	    rcore_read(children->ruby->memory, fields->at, values, some * sizeof(*values))) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	for (uint64_t i = 0; i < some; i++)
		rcore_child_mark(children, values[i], RCORE_EDGE_IVAR, ids[i]);
	if (fields->count > some)
		rcore_child_mark_values(children, fields->at + some * sizeof(*values),
					fields->count - some, RCORE_EDGE_ELEMENT);
}

static void mark_fields(struct rcore_children *children, const struct rcore_fields *fields)
{
	switch (fields->kind) {
	case RCORE_FIELDS_NONE:
		break;
	case RCORE_FIELDS_TABLE:
		rcore_child_mark_st_values(children, fields->at, RCORE_EDGE_IVAR);
		break;
	case RCORE_FIELDS_BY_SHAPE:
		mark_by_shape(children, fields);
		break;
	case RCORE_FIELDS_BY_INDEX:
		mark_by_index(children, fields);
		break;
	}
}

void rcore_children_of_object(struct rcore_children *children)
{
	struct rcore_fields fields;
	struct rcore_error *err = rcore_fields(children->ruby, children->object, &fields);
	if (!err)
		mark_fields(children, &fields);
	rcore_child_failed(children, err);
}

void rcore_children_of_fields(struct rcore_children *children)
{
	struct rcore_fields fields;
	rcore_child_mark(children, RCORE_CHILD_FIELD(children, basic, klass), RCORE_EDGE_CLASS,
			 0);
	struct rcore_error *err =
		rcore_fields_of_imemo(children->ruby, children->object, &fields);
	if (!err)
		mark_fields(children, &fields);
	rcore_child_failed(children, err);
}

/* From 4.0 on: a shape other than the root, and not in the slot. */
static bool has_generic_fields(const struct rcore_children *children)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint32_t too_complex = (uint32_t)layout->constant.shape_id_fl_too_complex;
	uint32_t mask = layout->traits.shape_id_mask | too_complex;
	if (!(rcore_shape_id(children->flags) & mask))
		return false;
	switch (children->flags & RCORE_T_MASK) {
	case RCORE_T_OBJECT:
	case RCORE_T_CLASS:
	case RCORE_T_MODULE:
	case RCORE_T_ICLASS:
	case RCORE_T_IMEMO:
		return false;
	case RCORE_T_DATA:
		return !(children->flags & (uint64_t)layout->constant.typed_fl_is_typed_data);
	case RCORE_T_STRUCT:
		return children->flags & layout->traits.struct_gen_fields_flag;
	default:
		return true;
	}
}

static void mark_generic_table(struct rcore_children *children)
{
	struct rcore_fields fields;
	struct rcore_error *err = rcore_fields(children->ruby, children->object, &fields);
	if (!err)
		mark_fields(children, &fields);
	rcore_child_failed(children, err);
}

void rcore_children_of_generic(struct rcore_children *children)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t imemo;
	enum rcore_type type = children->flags & RCORE_T_MASK;
	if (rcore_has(&layout->gen_ivtbl.ivptr)) {
		if (children->flags & (uint64_t)layout->constant.fl_exivar &&
		    type != RCORE_T_OBJECT && type != RCORE_T_CLASS && type != RCORE_T_MODULE &&
		    type != RCORE_T_ICLASS && type != RCORE_T_IMEMO)
			mark_generic_table(children);
		return;
	}
	if (!has_generic_fields(children))
		return;
	struct rcore_error *err = rcore_generic_ivar(children->ruby, children->object, &imemo);
	if (!err)
		rcore_child_mark_named(children, imemo, "instance variables");
	rcore_child_failed(children, err);
}
