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

enum { NAMED_LIMIT = RCORE_CHILD_IVARS, INDEX_LIMIT = 1 << 16 };

/* Fields without a name (object_id) have the ID 0. */
static struct rcore_error *ivars_of_shape(struct rcore_children *children, uint32_t id)
{
	struct rcore_child_ivars *ivars = &children->ivars;
	struct rcore_shape shape;
	bool counted = false;
	for (unsigned steps = 0; steps < RCORE_SHAPE_DEPTH_LIMIT; steps++) {
		struct rcore_error *err = rcore_shape(children->ruby, id, &shape);
		if (err)
			return err;
		if (!counted)
			ivars->count = (uint64_t)shape.index + 1;
		counted = true;
		if (shape.is_root)
			break;
		if (shape.adds_ivar && shape.index < NAMED_LIMIT)
			ivars->ids[shape.index] = shape.edge;
		id = shape.parent;
	}
	if (ivars->count > UINT32_MAX)
		ivars->count = 0;
	return NULL;
}

/* Up to 3.1. */
static struct rcore_error *ivars_of_table(struct rcore_children *children, uint64_t table)
{
	const struct rcore_layout *layout = children->ruby->layout;
	struct rcore_st_iterator iterator;
	uint64_t key, record, index;
	bool found = true;
	struct rcore_error *err = rcore_st_begin(&iterator, children->ruby, table, INDEX_LIMIT);
	while (!err && found) {
		err = rcore_st_next(&iterator, &found, &key, &record);
		if (err || !found)
			break;
		index = record;
		if (rcore_has(&layout->iv_index.index))
			index = RCORE_CHILD_READ(children, record, iv_index, index);
		if (index < NAMED_LIMIT)
			children->ivars.ids[index] = key;
	}
	return err;
}

/* Looks up the IDs, unless they are those of the last object. */
static void find_ivars(struct rcore_children *children, const struct rcore_fields *fields)
{
	struct rcore_child_ivars *ivars = &children->ivars;
	const bool by_shape = fields->kind == RCORE_FIELDS_BY_SHAPE;
	const uint64_t place = by_shape ? fields->shape : fields->indices;
	const uint8_t state = children->state;
	struct rcore_error *err = NULL;
	if (ivars->kind == fields->kind && ivars->place == place)
		return;
	*ivars = (struct rcore_child_ivars){.kind = fields->kind, .place = place};
	children->state = 0;
	if (by_shape)
		err = ivars_of_shape(children, fields->shape);
	else if (place)
		err = ivars_of_table(children, place);
	rcore_child_failed(children, err);
	/* What cannot be read makes the next object partial, too. */
	if (children->state)
		ivars->kind = RCORE_FIELDS_NONE;
	children->state |= state;
}

static void mark_named(struct rcore_children *children, const struct rcore_fields *fields,
		       uint64_t count)
{
	uint64_t values[NAMED_LIMIT], some = count < NAMED_LIMIT ? count : NAMED_LIMIT;
	if (!some)
		return;
	if (count > RCORE_CHILD_LIMIT ||
	    rcore_read(children->ruby->memory, fields->at, values, some * sizeof(*values))) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	for (uint64_t i = 0; i < some; i++)
		rcore_child_mark(children, values[i], RCORE_EDGE_IVAR, children->ivars.ids[i]);
	if (count > some)
		rcore_child_mark_values(children, fields->at + some * sizeof(*values),
					count - some, RCORE_EDGE_ELEMENT);
}

static void mark_by_shape(struct rcore_children *children, const struct rcore_fields *fields)
{
	find_ivars(children, fields);
	mark_named(children, fields, children->ivars.count);
}

/* Up to 3.1. */
static void mark_by_index(struct rcore_children *children, const struct rcore_fields *fields)
{
	if (!fields->count || !fields->at)
		return;
	find_ivars(children, fields);
	mark_named(children, fields, fields->count);
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

void rcore_children_of_generic(struct rcore_children *children)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t imemo;
	enum rcore_type type = children->flags & RCORE_T_MASK;
	if (rcore_has(&layout->gen_ivtbl.ivptr)) {
		if (children->flags & (uint64_t)layout->constant.fl_exivar &&
		    type != RCORE_T_OBJECT && type != RCORE_T_CLASS && type != RCORE_T_MODULE &&
		    type != RCORE_T_ICLASS && type != RCORE_T_IMEMO)
			rcore_children_of_object(children);
		return;
	}
	if (!has_generic_fields(children))
		return;
	struct rcore_error *err = rcore_generic_ivar(children->ruby, children->object, &imemo);
	if (!err)
		rcore_child_mark_named(children, imemo, "instance variables");
	rcore_child_failed(children, err);
}
