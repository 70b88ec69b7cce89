/* SPDX-License-Identifier: MIT */
#include "vm/context.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ruby/object/class_name.h"
#include "ruby/object/data.h"
#include "ruby/symbol/id.h"
#include "ruby/inspect/inspect.h"
#include "ruby/object/ivar.h"
#include "ruby/object/value.h"

enum {
	CAPACITY_LIMIT = 1 << 16,
	HEAD_SIZE = 16, /* size, capacity */
	PAIR_SIZE = 16, /* key, value */
};

/* All fibers use the same few keys, so their names are cached. */
static struct rcore_error *name_key(struct rcore_ruby *ruby, struct rcore_context_pair *pair)
{
	struct rcore_error *err = rcore_id_name(ruby, pair->key, &pair->variable.name);
	if (err && err->code == RCORE_ERROR_CORRUPT) {
		rcore_error_free(err);
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "the key of slot %" PRIu64 " is 0x%" PRIx64
					 ", which is not an ID",
					 pair->slot, pair->key);
	}
	return rcore_arena_keep_problem(ruby->arena, err, &pair->variable.problem);
}

static struct rcore_error *check_place(struct rcore_ruby *ruby,
				       const struct rcore_context *context,
				       struct rcore_context_pair *pair)
{
	if (pair->variable.problem || rcore_context_find(context, pair->key) == pair)
		return NULL;
	return rcore_arena_keep_problem(
		ruby->arena,
		rcore_error_create(RCORE_ERROR_CORRUPT,
				   "a lookup does not find slot %" PRIu64
				   ": the table was being written or is damaged",
				   pair->slot),
		&pair->variable.problem);
}

static struct rcore_error *read_pairs(struct rcore_ruby *ruby, const uint64_t *slots,
				      struct rcore_context *context)
{
	size_t count = 0;
	struct rcore_error *err = NULL;
	for (uint64_t i = 0; i < context->capacity; i++)
		count += slots[i * 2] != 0;
	context->pairs = rcore_arena_array(ruby->arena, count, sizeof(*context->pairs));
	if (!context->pairs)
		return rcore_error_no_memory();
	for (uint64_t i = 0; i < context->capacity && !err; i++) {
		if (!slots[i * 2])
			continue;
		struct rcore_context_pair *pair = &context->pairs[context->pair_count++];
		*pair = (struct rcore_context_pair){.key = slots[i * 2], .slot = i};
		err = name_key(ruby, pair);
		if (!err)
			err = rcore_inspect(ruby, slots[i * 2 + 1], NULL,
					    &pair->variable.value);
	}
	for (size_t i = 0; i < context->pair_count && !err; i++)
		err = check_place(ruby, context, &context->pairs[i]);
	if (!err && count != context->size)
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "its size is %" PRIu64
					 ", but it holds %zu pair%s: it was being written or "
					 "is damaged",
					 context->size, count, rcore_plural(count));
	return err;
}

static struct rcore_error *read_table(struct rcore_ruby *ruby, struct rcore_context *context)
{
	uint64_t head[2];
	enum rcore_fault fault = rcore_read(ruby->memory, context->table, head, sizeof(head));
	if (fault)
		return rcore_fault_error(fault, "Ruby_Profiler_State", context->table,
					 sizeof(head));
	context->size = head[0];
	context->capacity = head[1];
	if (context->capacity & (context->capacity - 1))
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "its capacity, %" PRIu64 ", is not a power of two",
					  context->capacity);
	if (context->capacity > CAPACITY_LIMIT)
		return rcore_error_create(RCORE_ERROR_LIMIT,
					  "its capacity, %" PRIu64 ", is more than %d",
					  context->capacity, CAPACITY_LIMIT);
	size_t bytes = context->capacity * PAIR_SIZE;
	uint64_t *slots = malloc(bytes + 1);
	if (!slots)
		return rcore_error_no_memory();
	fault = rcore_read_large(ruby->memory, context->table + HEAD_SIZE, slots, bytes);
	struct rcore_error *err =
		bytes && fault ? rcore_fault_error(fault, "pairs of a Ruby_Profiler_State",
						   context->table + HEAD_SIZE, bytes)
			       : read_pairs(ruby, slots, context);
	free(slots);
	return err;
}

/*
 * The type's name is in the extension's file. If that file is missing, the
 * class's name decides.
 */
static struct rcore_error *check_type(struct rcore_ruby *ruby, uint64_t value, uint64_t *table)
{
	static const char expected[] = "Ruby::Profiler::State";
	struct rcore_data data;
	const char *name;
	bool is_state = false;
	rcore_auto_error unknown = rcore_data_is(ruby, value, expected, &is_state, table);
	struct rcore_error *err = unknown ? rcore_data(ruby, value, &data) : NULL;
	if (!err && unknown) {
		err = rcore_value_class_name(ruby, value, &name);
		is_state = !err && !strcmp(name, expected);
		*table = data.data;
	}
	if (!err && !is_state)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is not a %s",
					 value, expected);
	return err;
}

static const char variable[] = "@ruby_profiler_state";

/* Finds the instance variable, and the table that its value wraps. */
static struct rcore_error *find(struct rcore_ruby *ruby, uint64_t fiber,
				struct rcore_context *context)
{
	uint64_t value;
	struct rcore_error *err =
		rcore_ivar_get(ruby, fiber, variable, &context->present, &value);
	if (err || !context->present)
		return err;
	if (rcore_is_nil(ruby, value)) {
		context->present = false;
		return NULL;
	}
	context->object = value;
	return rcore_error_wrap(check_type(ruby, value, &context->table),
				"@ruby_profiler_state of 0x%" PRIx64, fiber);
}

static struct rcore_error *load(struct rcore_ruby *ruby, struct rcore_error *err,
				struct rcore_context *context)
{
	if (!err && context->table)
		err = rcore_error_wrap(read_table(ruby, context),
				       "profiler state at 0x%" PRIx64, context->table);
	return rcore_arena_keep_problem(ruby->arena, err, &context->problem);
}

struct rcore_error *rcore_context_load(struct rcore_ruby *ruby, uint64_t fiber,
				       struct rcore_context *ret)
{
	*ret = (struct rcore_context){0};
	return load(ruby, find(ruby, fiber, ret), ret);
}

struct rcore_error *rcore_context_load_table(struct rcore_ruby *ruby, uint64_t table,
					     struct rcore_context *ret)
{
	*ret = (struct rcore_context){.present = table, .table = table};
	return load(ruby, NULL, ret);
}

struct rcore_error *rcore_context_place(struct rcore_ruby *ruby, uint64_t fiber,
					const struct rcore_context *context, uint64_t *ret)
{
	struct rcore_error *err = rcore_ivar_place(ruby, fiber, variable, ret);
	if (!err && !*ret && !context->object)
		*ret = fiber;
	return err;
}

struct rcore_error *rcore_context_compare(struct rcore_arena *arena,
					  struct rcore_context *context)
{
	uint64_t other = context->thread_local_table;
	context->difference = NULL;
	if (!context->has_thread_local || context->problem || other == context->table)
		return NULL;
	context->difference =
		!other ? rcore_arena_strdup(arena, "the thread-local ruby_profiler_state is "
						   "NULL, so it was not in use")
		       : rcore_arena_printf(arena,
					    "the thread-local ruby_profiler_state is 0x%" PRIx64
					    ", another table: stale",
					    other);
	return context->difference ? NULL : rcore_error_no_memory();
}
