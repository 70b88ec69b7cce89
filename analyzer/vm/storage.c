/* SPDX-License-Identifier: MIT */
#include "vm/storage.h"

#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/get.h"
#include "ruby/object/hash.h"
#include "ruby/symbol/id.h"
#include "ruby/object/id_table.h"
#include "ruby/object/ivar.h"
#include "ruby/object/st_table.h"
#include "ruby/object/string.h"
#include "vm/problem.h"

struct reading {
	struct rcore_ruby *ruby;
	struct rcore_snapshot *snapshot;
	const struct rcore_inspect_options *options;
	struct {
		struct rcore_variable *items;
		size_t count, capacity;
	} found;
};

/*
 * Takes ownership of `name_err`, which says why there is no name (NULL: there
 * is one).
 */
static struct rcore_error *add(struct reading *reading, const char *name,
			       struct rcore_error *name_err, uint64_t value)
{
	struct rcore_variable *variable;
	if (name_err && name_err->code == RCORE_ERROR_NO_MEMORY)
		return name_err;
	if (reading->found.count == RCORE_VARIABLE_LIMIT) {
		rcore_error_free(name_err);
		return rcore_error_create(RCORE_ERROR_LIMIT, "there are more than %d",
					  RCORE_VARIABLE_LIMIT);
	}
	variable = rcore_push(&reading->found);
	if (!variable) {
		rcore_error_free(name_err);
		return rcore_error_no_memory();
	}
	variable->name = name_err ? NULL : name;
	variable->problem = rcore_problem(reading->snapshot, name_err);
	return rcore_inspect(reading->ruby, value, reading->options, &variable->value);
}

/*
 * A static Symbol is an ID, shifted by RUBY_SPECIAL_SHIFT, with the tag
 * RUBY_SYMBOL_FLAG. A dynamic Symbol is an object that points to its String.
 */
static struct rcore_error *key_name(struct rcore_ruby *ruby, uint64_t key, const char **ret)
{
	enum { STATIC_MASK = 0xff, STATIC_TAG = 0x0c, ID_SHIFT = 8 };
	enum rcore_type type;
	uint64_t string;
	if ((key & STATIC_MASK) == STATIC_TAG)
		return rcore_id_name(ruby, key >> ID_SHIFT, ret);
	struct rcore_error *err = rcore_type(ruby, key, &type);
	if (!err && type != RCORE_T_SYMBOL)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is not a Symbol",
					 key);
	if (!err)
		err = RCORE_GET(ruby, key, symbol, fstr, &string);
	return err ? err : rcore_string(ruby, string, ret, NULL);
}

static struct rcore_error *read_hash(struct reading *reading, uint64_t hash)
{
	struct rcore_hash_iterator iterator;
	uint64_t key, value;
	bool found;
	struct rcore_error *err = rcore_hash_begin(&iterator, reading->ruby, hash);
	while (!err && !(err = rcore_hash_next(&iterator, &found, &key, &value)) && found) {
		const char *name = NULL;
		struct rcore_error *name_err = key_name(reading->ruby, key, &name);
		err = add(reading, name, name_err, value);
	}
	return err;
}

static struct rcore_error *read_id_table(struct reading *reading, uint64_t table)
{
	struct rcore_id_iterator iterator;
	uint64_t serial, value;
	bool found;
	struct rcore_error *err = rcore_id_table_begin(&iterator, reading->ruby, table);
	while (!err && !(err = rcore_id_table_next(&iterator, &found, &serial, &value)) &&
	       found) {
		const char *name = NULL;
		struct rcore_error *name_err = rcore_serial_name(reading->ruby, serial, &name);
		err = add(reading, name, name_err, value);
	}
	return err;
}

static struct rcore_error *read_st_table(struct reading *reading, uint64_t table)
{
	struct rcore_st_iterator iterator;
	uint64_t id, value;
	bool found;
	struct rcore_error *err =
		rcore_st_begin(&iterator, reading->ruby, table, RCORE_VARIABLE_LIMIT);
	while (!err && !(err = rcore_st_next(&iterator, &found, &id, &value)) && found) {
		const char *name = NULL;
		struct rcore_error *name_err = rcore_id_name(reading->ruby, id, &name);
		err = add(reading, name, name_err, value);
	}
	return err;
}

/*
 * Keeps what was found and the error that ended the search. Takes ownership of
 * `err`.
 */
static struct rcore_error *keep(struct reading *reading, struct rcore_error *err,
				struct rcore_variables *ret)
{
	size_t size = reading->found.count * sizeof(*ret->items);
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	ret->problem = rcore_problem(reading->snapshot, err);
	if (!size)
		return NULL;
	ret->items = rcore_arena_alloc(reading->ruby->arena, size);
	if (!ret->items)
		return rcore_error_no_memory();
	memcpy(ret->items, reading->found.items, size);
	ret->count = reading->found.count;
	return NULL;
}

static struct rcore_error *read_storage(struct reading *reading, struct rcore_fiber *fiber)
{
	struct rcore_ruby *ruby = reading->ruby;
	const struct rcore_field *field = &ruby->layout->ec.storage;
	uint64_t hash;
	reading->found.count = 0;
	if (!rcore_has(field) || rcore_read_field(ruby->memory, fiber->ec, field, &hash) ||
	    rcore_is_nil(ruby, hash))
		return NULL;
	return keep(reading, read_hash(reading, hash), &fiber->storage);
}

static struct rcore_error *read_locals(struct reading *reading, struct rcore_fiber *fiber)
{
	struct rcore_ruby *ruby = reading->ruby;
	uint64_t table;
	reading->found.count = 0;
	if (rcore_read_field(ruby->memory, fiber->ec, &ruby->layout->ec.local_storage,
			     &table) ||
	    !table)
		return NULL;
	struct rcore_error *err = ruby->layout->traits.local_storage_is_st
					  ? read_st_table(reading, table)
					  : read_id_table(reading, table);
	return keep(reading, err, &fiber->locals);
}

static struct rcore_error *read_variables(struct reading *reading, struct rcore_thread *thread)
{
	uint64_t hash;
	bool found = false;
	reading->found.count = 0;
	if (!thread->object)
		return NULL;
	struct rcore_error *err =
		rcore_ivar_get(reading->ruby, thread->object, "locals", &found, &hash);
	if (!err && (!found || rcore_is_nil(reading->ruby, hash)))
		return NULL;
	return keep(reading, err ? err : read_hash(reading, hash), &thread->variables);
}

struct rcore_error *rcore_vm_storage(struct rcore_ruby *ruby, struct rcore_snapshot *snapshot,
				     const struct rcore_inspect_options *options)
{
	struct reading reading = {.ruby = ruby, .snapshot = snapshot, .options = options};
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < snapshot->fiber_count && !err; i++) {
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (fiber->status == RCORE_FIBER_STATUS_UNKNOWN)
			continue;
		err = read_storage(&reading, fiber);
		if (!err)
			err = read_locals(&reading, fiber);
	}
	for (size_t i = 0; i < snapshot->thread_count && !err; i++)
		if (snapshot->threads[i].status != RCORE_THREAD_STATUS_UNKNOWN)
			err = read_variables(&reading, &snapshot->threads[i]);
	free(reading.found.items);
	return err;
}
