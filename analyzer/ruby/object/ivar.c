/* SPDX-License-Identifier: MIT */
#include "ruby/object/ivar.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/object/fields.h"
#include "ruby/get.h"
#include "ruby/symbol/id.h"
#include "ruby/object/shape.h"
#include "ruby/object/st_table.h"

enum {
	IVAR_LIMIT = RCORE_SHAPE_DEPTH_LIMIT,
	/* ID_SCOPE_MASK: three bits above ID_STATIC_SYM. */
	ID_SCOPE_BITS = 0xe,
	ID_INSTANCE = 1 << 1, /* RUBY_ID_INSTANCE */
};

bool rcore_ivar_is_visible(const struct rcore_ruby *ruby, uint64_t id)
{
	return id > (uint64_t)ruby->layout->constant.last_op_id &&
	       (id & ID_SCOPE_BITS) == ID_INSTANCE;
}

/* Gets the variables one after the other. */
struct visitor {
	struct rcore_ruby *ruby;
	/* Looks for the variable with this name ... */
	const char *name;
	bool is_instance;
	bool found;
	uint64_t value, place;
	/* ... or collects all of them. */
	struct rcore_ivars *all;
	size_t limit;
};

/* Compares names, which are cached, because no ID may exist for this name. */
static struct rcore_error *is_named(struct visitor *visitor, uint64_t id, bool *ret)
{
	const char *name;
	*ret = false;
	if (rcore_ivar_is_visible(visitor->ruby, id) != visitor->is_instance)
		return NULL;
	struct rcore_error *err = rcore_id_name(visitor->ruby, id, &name);
	if (!err) {
		*ret = !strcmp(name, visitor->name);
	} else if (err->code == RCORE_ERROR_CORRUPT) {
		/* An internal ID of the VM has no name. */
		rcore_error_free(err);
		err = NULL;
	}
	return err;
}

static bool is_undefined(const struct rcore_ruby *ruby, uint64_t value)
{
	return value == (uint64_t)ruby->layout->constant.qundef;
}

/* *stop: the visitor wants no more. */
static struct rcore_error *take(struct visitor *visitor, uint64_t id, uint64_t value,
				bool *stop)
{
	if (is_undefined(visitor->ruby, value))
		return NULL;
	if (!visitor->all) {
		visitor->found = *stop = true;
		visitor->value = value;
		return NULL;
	}
	if (visitor->all->count >= visitor->limit) {
		visitor->all->truncated = *stop = true;
		return NULL;
	}
	struct rcore_ivar *ivar = rcore_push(visitor->all);
	if (!ivar)
		return rcore_error_no_memory();
	*ivar = (struct rcore_ivar){id, value};
	return NULL;
}

static struct rcore_error *wanted(struct visitor *visitor, uint64_t id, bool *ret)
{
	*ret = true;
	return visitor->all ? NULL : is_named(visitor, id, ret);
}

static struct rcore_error *take_element(struct visitor *visitor, uint64_t id, uint64_t at,
					uint64_t index, bool *stop)
{
	uint64_t value, address = at + index * sizeof(value);
	enum rcore_fault fault = rcore_read_u64(visitor->ruby->memory, address, &value);
	visitor->place = address;
	return fault ? rcore_fault_error(fault, "instance variable", address, sizeof(value))
		     : take(visitor, id, value, stop);
}

static struct rcore_error *visit_table(struct visitor *visitor, uint64_t table)
{
	struct rcore_st_iterator iterator;
	uint64_t id, value;
	bool found, stop = false, want;
	struct rcore_error *err = rcore_st_begin(&iterator, visitor->ruby, table, IVAR_LIMIT);
	while (!err && !stop && !(err = rcore_st_next(&iterator, &found, &id, &value)) &&
	       found) {
		err = wanted(visitor, id, &want);
		if (!err && want)
			err = take(visitor, id, value, &stop);
	}
	return err;
}

/*
 * The n-th entry of the table mostly belongs to the n-th element, but not
 * always.
 */
static struct rcore_error *visit_by_index(struct visitor *visitor,
					  const struct rcore_fields *fields)
{
	struct rcore_ruby *ruby = visitor->ruby;
	struct rcore_st_iterator iterator;
	uint64_t id, index;
	bool found, stop = false, want;
	if (!fields->indices)
		return NULL;
	struct rcore_error *err = rcore_st_begin(&iterator, ruby, fields->indices, IVAR_LIMIT);
	while (!err && !stop && !(err = rcore_st_next(&iterator, &found, &id, &index)) &&
	       found) {
		err = wanted(visitor, id, &want);
		if (!err && want && rcore_has(&ruby->layout->iv_index.index))
			err = RCORE_GET(ruby, index, iv_index, index, &index);
		if (!err && want && index < fields->count)
			err = take_element(visitor, id, fields->at, index, &stop);
	}
	return err;
}

/* From a shape up to its root, the newest variable comes first. */
struct edges {
	struct edge {
		uint64_t id;
		uint32_t index;
	} * items;
	size_t count, capacity;
};

static struct rcore_error *climb(struct visitor *visitor, uint32_t id, struct edges *edges)
{
	for (int steps = 0; steps < RCORE_SHAPE_DEPTH_LIMIT; steps++) {
		struct rcore_shape shape;
		bool want;
		struct rcore_error *err = rcore_shape(visitor->ruby, id, &shape);
		if (!err && shape.adds_ivar && !(err = wanted(visitor, shape.edge, &want)) &&
		    want) {
			struct edge *edge = rcore_push(edges);
			if (!edge)
				return rcore_error_no_memory();
			*edge = (struct edge){shape.edge, shape.index};
			if (!visitor->all)
				return NULL;
		}
		if (err || shape.is_root)
			return err;
		id = shape.parent;
	}
	return rcore_error_create(RCORE_ERROR_LIMIT, "a shape has more than %d parents",
				  RCORE_SHAPE_DEPTH_LIMIT);
}

static struct rcore_error *visit_by_shape(struct visitor *visitor,
					  const struct rcore_fields *fields)
{
	struct edges edges = {0};
	bool stop = false;
	struct rcore_error *err = climb(visitor, fields->shape, &edges);
	for (size_t i = edges.count; i-- && !err && !stop;)
		err = take_element(visitor, edges.items[i].id, fields->at, edges.items[i].index,
				   &stop);
	free(edges.items);
	return err;
}

static struct rcore_error *visit(struct visitor *visitor, uint64_t object)
{
	struct rcore_fields fields;
	struct rcore_error *err = rcore_fields(visitor->ruby, object, &fields);
	if (err)
		return err;
	switch (fields.kind) {
	case RCORE_FIELDS_NONE:
		return NULL;
	case RCORE_FIELDS_TABLE:
		return visit_table(visitor, fields.at);
	case RCORE_FIELDS_BY_SHAPE:
		return visit_by_shape(visitor, &fields);
	case RCORE_FIELDS_BY_INDEX:
		return visit_by_index(visitor, &fields);
	}
	return NULL;
}

struct rcore_error *rcore_ivar_get(struct rcore_ruby *ruby, uint64_t object, const char *name,
				   bool *found, uint64_t *ret)
{
	struct visitor visitor = {.ruby = ruby, .name = name, .is_instance = name[0] == '@'};
	struct rcore_error *err = visit(&visitor, object);
	if (err)
		return rcore_error_wrap(err, "%s of 0x%" PRIx64, name, object);
	*found = visitor.found;
	if (visitor.found)
		*ret = visitor.value;
	return NULL;
}

bool rcore_ivar_try(struct rcore_ruby *ruby, uint64_t object, const char *name, uint64_t *ret)
{
	bool found = false;
	struct rcore_error *err = name ? rcore_ivar_get(ruby, object, name, &found, ret) : NULL;
	bool is_read = found && !err;
	rcore_error_free(err);
	return is_read;
}

struct rcore_error *rcore_ivar_place(struct rcore_ruby *ruby, uint64_t object, const char *name,
				     uint64_t *ret)
{
	struct visitor visitor = {.ruby = ruby, .name = name, .is_instance = name[0] == '@'};
	struct rcore_error *err = visit(&visitor, object);
	*ret = !err && visitor.found ? visitor.place : 0;
	return rcore_error_wrap(err, "%s of 0x%" PRIx64, name, object);
}

struct rcore_error *rcore_ivars(struct rcore_ruby *ruby, uint64_t object, size_t limit,
				struct rcore_ivars *ret)
{
	*ret = (struct rcore_ivars){0};
	struct visitor visitor = {.ruby = ruby, .all = ret, .limit = limit};
	return rcore_error_wrap(visit(&visitor, object), "instance variables of 0x%" PRIx64,
				object);
}
