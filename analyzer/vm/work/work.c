/* SPDX-License-Identifier: MIT */
#include "vm/work/work.h"

#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "base/arena.h"
#include "base/grow.h"
#include "ruby/inspect/inspect.h"
#include "vm/problem.h"

enum {
	/*
	 * The most frames of one stack whose values are read for one entry. A
	 * request passes through some 40 middlewares, each with a `call`.
	 */
	TRY_LIMIT = 200,
	/* The same limit for all stacks together. */
	TOTAL_LIMIT = 1 << 20,
};

struct walk {
	struct rcore_ruby *ruby;
	const struct rcore_recognizers *recognizers;
	const struct rcore_inspect_options *inspect;
	size_t tried; /* frames, in all */
	/*
	 * Maps the address of a label, which all frames of a method share, to 1
	 * if an entry matches it, and to 0 otherwise.
	 */
	struct rcore_address_map interesting;
	/* Indices of the frames of this fiber that an entry matches. */
	struct {
		int *items;
		size_t count, capacity;
	} frames;
	struct {
		struct rcore_work *items;
		size_t count, capacity;
	} works;
};

static bool matches_any(const struct rcore_recognizers *recognizers, const char *label)
{
	for (size_t i = 0; i < recognizers->count; i++)
		if (rcore_recognizer_matches(&recognizers->items[i], label))
			return true;
	return false;
}

/* Most frames match no entry; each label is compared with the table once. */
static struct rcore_error *is_interesting(struct walk *walk, const char *label, bool *ret)
{
	uint64_t key = (uint64_t)(uintptr_t)label;
	int known = rcore_address_map_get(&walk->interesting, key);
	*ret = known > 0;
	if (known >= 0)
		return NULL;
	*ret = matches_any(walk->recognizers, label);
	return rcore_address_map_put(&walk->interesting, key, *ret) ? NULL
								    : rcore_error_no_memory();
}

static struct rcore_error *collect_frames(struct walk *walk, const struct rcore_fiber *fiber)
{
	walk->frames.count = 0;
	for (size_t i = 0; i < fiber->frame_count; i++) {
		const struct rcore_frame *frame = &fiber->frames[i];
		bool wanted = false;
		struct rcore_error *err = NULL;
		/* A frame that is being pushed has no variables yet. */
		if (frame->label && !frame->under_construction)
			err = is_interesting(walk, frame->label, &wanted);
		if (err)
			return err;
		if (!wanted)
			continue;
		int *index = rcore_push(&walk->frames);
		if (!index)
			return rcore_error_no_memory();
		*index = (int)i;
	}
	return NULL;
}

static struct rcore_error *read_field(struct walk *walk, const struct rcore_fiber *fiber,
				      const struct rcore_frame *frame,
				      const struct rcore_recognizer_field *field, bool *found,
				      struct rcore_value *ret)
{
	struct rcore_path_value at = {0};
	for (size_t i = 0; i < field->path_count && !at.found; i++) {
		struct rcore_error *err = rcore_error_forgive(rcore_value_path_follow(
			walk->ruby, fiber, frame, field->paths[i], &at));
		if (err)
			return err;
	}
	*found = at.found;
	if (!at.found)
		return NULL;
	if (!at.text)
		return rcore_inspect(walk->ruby, at.value, walk->inspect, ret);
	*ret = (struct rcore_value){.value = at.value, .class_name = at.text, .text = at.text};
	return NULL;
}

static struct rcore_error *read_fields(struct walk *walk, const struct rcore_fiber *fiber,
				       const struct rcore_frame *frame,
				       const struct rcore_recognizer *recognizer,
				       struct rcore_variables *ret)
{
	struct rcore_arena *arena = walk->ruby->arena;
	*ret = (struct rcore_variables){
		.items = rcore_arena_alloc(arena,
					   recognizer->field_count * sizeof(*ret->items))};
	if (!ret->items)
		return rcore_error_no_memory();
	for (size_t i = 0; i < recognizer->field_count; i++) {
		const struct rcore_recognizer_field *field = &recognizer->fields[i];
		struct rcore_variable variable = {
			.name = rcore_arena_strdup(arena, field->name)};
		bool found = false;
		struct rcore_error *err = variable.name ? read_field(walk, fiber, frame, field,
								     &found, &variable.value)
							: rcore_error_no_memory();
		if (err)
			return err;
		if (found) {
			ret->items[ret->count++] = variable;
		} else if (field->is_required) {
			ret->count = 0;
			return NULL;
		}
	}
	return NULL;
}

static struct rcore_error *keep(struct walk *walk, const struct rcore_recognizer *recognizer,
				int frame, const struct rcore_variables *fields)
{
	struct rcore_arena *arena = walk->ruby->arena;
	struct rcore_work *work = rcore_push(&walk->works);
	if (!work)
		return rcore_error_no_memory();
	*work = (struct rcore_work){.recognizer = rcore_arena_strdup(arena, recognizer->name),
				    .kind = rcore_arena_strdup(arena, recognizer->kind),
				    .frame = frame,
				    .fields = *fields};
	return work->recognizer && work->kind ? NULL : rcore_error_no_memory();
}

static struct rcore_error *recognize(struct walk *walk, const struct rcore_fiber *fiber,
				     const struct rcore_recognizer *recognizer)
{
	size_t count = walk->frames.count, tried = 0;
	for (size_t i = 0; i < count && tried < TRY_LIMIT && walk->tried < TOTAL_LIMIT; i++) {
		int index = walk->frames.items[recognizer->is_innermost ? i : count - 1 - i];
		const struct rcore_frame *frame = &fiber->frames[index];
		struct rcore_variables fields;
		if (!rcore_recognizer_matches(recognizer, frame->label))
			continue;
		tried++;
		walk->tried++;
		struct rcore_error *err = read_fields(walk, fiber, frame, recognizer, &fields);
		if (err || fields.count)
			return err ? err : keep(walk, recognizer, index, &fields);
	}
	return NULL;
}

/* Sorts by frame, the outermost first. */
static int compare(const void *a, const void *b)
{
	return ((const struct rcore_work *)b)->frame - ((const struct rcore_work *)a)->frame;
}

static struct rcore_error *recognize_all(struct walk *walk, struct rcore_fiber *fiber)
{
	walk->works.count = 0;
	struct rcore_error *err = collect_frames(walk, fiber);
	if (!walk->frames.count)
		return err;
	for (size_t i = 0; i < walk->recognizers->count && !err; i++)
		err = recognize(walk, fiber, &walk->recognizers->items[i]);
	if (err || !walk->works.count)
		return err;
	size_t size = walk->works.count * sizeof(*walk->works.items);
	fiber->works.items = rcore_arena_alloc(walk->ruby->arena, size);
	if (!fiber->works.items)
		return rcore_error_no_memory();
	qsort(walk->works.items, walk->works.count, sizeof(*walk->works.items), compare);
	memcpy(fiber->works.items, walk->works.items, size);
	fiber->works.count = walk->works.count;
	return NULL;
}

struct rcore_error *rcore_vm_work(struct rcore_ruby *ruby,
				  const struct rcore_recognizers *recognizers,
				  const struct rcore_inspect_options *inspect,
				  struct rcore_snapshot *snapshot)
{
	struct walk walk = {.ruby = ruby, .recognizers = recognizers, .inspect = inspect};
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < snapshot->fiber_count && !err; i++)
		err = recognize_all(&walk, &snapshot->fibers[i]);
	if (walk.tried >= TOTAL_LIMIT)
		rcore_problem_add(snapshot,
				  rcore_error_create(RCORE_ERROR_LIMIT,
						     "rcore searched only the first %d frames "
						     "for what fibers work on",
						     TOTAL_LIMIT));
	rcore_address_map_deinit(&walk.interesting);
	free(walk.frames.items);
	free(walk.works.items);
	return err;
}
