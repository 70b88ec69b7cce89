/* SPDX-License-Identifier: MIT */
#include "model/group.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/text.h"
#include "model/alike.h"
#include "model/locals_same.h"
#include "model/similar.h"

bool rcore_stack_same(const struct rcore_fiber *a, const struct rcore_fiber *b)
{
	if (a->frame_count != b->frame_count)
		return false;
	for (size_t i = 0; i < a->frame_count; i++)
		if (!rcore_frame_same(&a->frames[i], &b->frames[i]))
			return false;
	return true;
}

static bool is_ended(const struct rcore_snapshot *snapshot, const struct rcore_fiber *fiber)
{
	return fiber->thread < 0 || snapshot->threads[fiber->thread].is_ended;
}

/* Fibers of different kinds are not merged. */
static unsigned kind_of(const struct rcore_snapshot *snapshot, const struct rcore_fiber *fiber)
{
	return (unsigned)is_ended(snapshot, fiber) | (unsigned)fiber->is_late << 1;
}

uint64_t rcore_stack_hash(const struct rcore_fiber *fiber)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < fiber->frame_count; i++)
		hash = rcore_frame_hash(&fiber->frames[i], fiber->frames[i].line, hash);
	return hash;
}

static bool is_parked(const struct rcore_fiber *fiber)
{
	return fiber->status == RCORE_FIBER_SUSPENDED && !fiber->is_root &&
	       !fiber->is_current && fiber->resuming < 0 && !fiber->problem &&
	       !fiber->frames_truncated && fiber->frame_count;
}

static bool hash_fiber(const struct rcore_snapshot *snapshot, size_t index, uint64_t *ret)
{
	const struct rcore_fiber *fiber = &snapshot->fibers[index];
	*ret = rcore_stack_hash(fiber) ^ kind_of(snapshot, fiber);
	return is_parked(fiber);
}

static bool same_fiber(const struct rcore_snapshot *snapshot, size_t a, size_t b)
{
	const struct rcore_fiber *one = &snapshot->fibers[a], *other = &snapshot->fibers[b];
	return rcore_stack_same(one, other) &&
	       kind_of(snapshot, one) == kind_of(snapshot, other);
}

static bool hash_similar(const struct rcore_snapshot *snapshot, size_t index, uint64_t *ret)
{
	const struct rcore_fiber *fiber = &snapshot->fibers[index];
	if (!is_parked(fiber))
		return false;
	*ret = rcore_stack_similar_hash(fiber) ^ kind_of(snapshot, fiber);
	return true;
}

static bool similar_fiber(const struct rcore_snapshot *snapshot, size_t a, size_t b)
{
	const struct rcore_fiber *one = &snapshot->fibers[a], *other = &snapshot->fibers[b];
	return rcore_stack_similar(one, other) &&
	       kind_of(snapshot, one) == kind_of(snapshot, other);
}

struct rcore_error *rcore_snapshot_group(struct rcore_snapshot *snapshot, bool merge_similar)
{
	const struct rcore_comparison same = {snapshot->fiber_count, hash_fiber, same_fiber};
	const struct rcore_comparison similar = {snapshot->fiber_count, hash_similar,
						 similar_fiber};
	struct rcore_likeness *found;
	size_t count;
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		snapshot->fibers[i].group = -1;
	struct rcore_error *err =
		rcore_likeness_find(snapshot, &same, &similar, merge_similar, &found, &count);
	if (err)
		return err;
	struct rcore_fiber_group *groups =
		rcore_arena_array(&snapshot->arena, count, sizeof(*groups));
	for (size_t i = 0; groups && i < count; i++) {
		groups[i] = (struct rcore_fiber_group){
			.fibers = found[i].same.items,
			.count = found[i].same.count,
			.similar = found[i].similar.items,
			.similar_listed = found[i].similar.count,
			.similar_count = found[i].similar_count,
			.differs = found[i].differs,
		};
		for (size_t j = 0; j < groups[i].count; j++)
			snapshot->fibers[groups[i].fibers[j]].group = (int)i;
	}
	free(found);
	snapshot->groups = groups;
	snapshot->group_count = groups ? count : 0;
	return groups ? NULL : rcore_error_no_memory();
}
