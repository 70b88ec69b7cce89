/* SPDX-License-Identifier: MIT */
#include "model/group.h"

#include <stdlib.h>

#define HASH_NONFATAL_OOM            1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <uthash.h>

#include "base/arena.h"
#include "base/text.h"
#include "model/locals_same.h"

struct stack {
	uint64_t hash;
	int first; /* the first fiber with this stack */
	int count;
	int group; /* -1: not numbered yet */
	bool lost;
	UT_hash_handle hh;
};

bool rcore_frame_same(const struct rcore_frame *a, const struct rcore_frame *b)
{
	return a->kind == b->kind && a->line == b->line &&
	       rcore_same_text(a->label, b->label) && rcore_same_text(a->path, b->path) &&
	       rcore_same_text(a->problem, b->problem) &&
	       rcore_frame_values_same(a->values, b->values);
}

bool rcore_stack_same(const struct rcore_fiber *a, const struct rcore_fiber *b)
{
	if (a->frame_count != b->frame_count)
		return false;
	for (size_t i = 0; i < a->frame_count; i++)
		if (!rcore_frame_same(&a->frames[i], &b->frames[i]))
			return false;
	return true;
}

/* FNV-1a */
static uint64_t mix(uint64_t hash, const char *text)
{
	for (const char *at = text ? text : "\1"; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
	return hash * 0x100000001b3;
}

static bool is_ended(const struct rcore_snapshot *snapshot, const struct rcore_fiber *fiber)
{
	return fiber->thread < 0 || snapshot->threads[fiber->thread].is_ended;
}

uint64_t rcore_stack_hash(const struct rcore_fiber *fiber)
{
	uint64_t hash = 0xcbf29ce484222325;
	for (size_t i = 0; i < fiber->frame_count; i++) {
		hash = mix(mix(hash, fiber->frames[i].label), fiber->frames[i].path);
		hash = (hash ^ (unsigned)fiber->frames[i].line) * 0x100000001b3;
	}
	return hash;
}

static bool is_parked(const struct rcore_fiber *fiber)
{
	return fiber->status == RCORE_FIBER_SUSPENDED && !fiber->is_root &&
	       !fiber->is_current && fiber->resuming < 0 && !fiber->problem &&
	       !fiber->frames_truncated && fiber->frame_count;
}

/*
 * fiber->group is the index into `stacks` on the way, -1 for a fiber left
 * alone.
 */
static bool find_stacks(struct rcore_snapshot *snapshot, struct stack *stacks)
{
	struct stack *table = NULL;
	bool lost = false;
	int used = 0;
	for (size_t i = 0; i < snapshot->fiber_count && !lost; i++) {
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (!is_parked(fiber))
			continue;
		uint64_t hash = rcore_stack_hash(fiber) ^ is_ended(snapshot, fiber);
		struct stack *found;
		HASH_FIND(hh, table, &hash, sizeof(hash), found);
		if (!found) {
			found = &stacks[used];
			*found = (struct stack){.hash = hash, .first = (int)i, .group = -1};
			HASH_ADD(hh, table, hash, sizeof(found->hash), found);
			lost = found->lost;
			used++;
		} else {
			struct rcore_fiber *first = &snapshot->fibers[found->first];
			if (!rcore_stack_same(first, fiber) ||
			    is_ended(snapshot, first) != is_ended(snapshot, fiber))
				continue;
		}
		found->count++;
		fiber->group = (int)(found - stacks);
	}
	HASH_CLEAR(hh, table);
	return !lost;
}

static bool number_groups(struct rcore_snapshot *snapshot, struct stack *stacks)
{
	size_t count = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (fiber->group >= 0 && stacks[fiber->group].first == (int)i &&
		    stacks[fiber->group].count > 1)
			stacks[fiber->group].group = (int)count++;
	}
	struct rcore_fiber_group *groups =
		rcore_arena_alloc(&snapshot->arena, count * sizeof(*groups));
	if (!groups)
		return false;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (fiber->group < 0)
			continue;
		struct stack *stack = &stacks[fiber->group];
		fiber->group = stack->group;
		if (stack->group < 0)
			continue;
		struct rcore_fiber_group *group = &groups[stack->group];
		if (!group->fibers)
			group->fibers = rcore_arena_alloc(&snapshot->arena,
							  (size_t)stack->count * sizeof(int));
		if (!group->fibers)
			return false;
		group->fibers[group->count++] = (int)i;
	}
	snapshot->groups = groups;
	snapshot->group_count = count;
	return true;
}

struct rcore_error *rcore_snapshot_group(struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		snapshot->fibers[i].group = -1;
	if (!snapshot->fiber_count)
		return NULL;
	struct stack *stacks = calloc(snapshot->fiber_count, sizeof(*stacks));
	bool done = stacks && find_stacks(snapshot, stacks) && number_groups(snapshot, stacks);
	free(stacks);
	if (done)
		return NULL;
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		snapshot->fibers[i].group = -1;
	return rcore_error_no_memory();
}
