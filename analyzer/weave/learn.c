/* SPDX-License-Identifier: MIT */
#include "weave/learn.h"

#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "base/grow.h"
#include "ruby/iseq/frame_flags.h"

/* Enough stacks to learn from. */
enum { SAMPLE = 256 };

struct candidate {
	uint64_t start;
	/* Stacks entered more than once in which it occurs as often. */
	size_t exact;
	size_t fits; /* stacks whose number of entries it matches */
	size_t here; /* frames in the current stack */
	/*
	 * Sum of the positions of its outermost frames; a smaller sum is
	 * further out.
	 */
	size_t depth;
};

struct learner {
	struct candidate *items;
	size_t count, capacity;
	struct rcore_address_map at;
	size_t stacks;
};

bool rcore_enters_interpreter(const struct rcore_frame *frame)
{
	return frame->flags & RCORE_FRAME_FINISH && !frame->under_construction &&
	       frame->kind != RCORE_FRAME_DUMMY && frame->kind != RCORE_FRAME_CFUNC &&
	       frame->kind != RCORE_FRAME_IFUNC;
}

static bool is_whole(const struct rcore_fiber *fiber)
{
	return fiber->frame_count && fiber->native_count && !fiber->native_problem &&
	       !fiber->problem && !fiber->frames_truncated;
}

static size_t count_entered(const struct rcore_fiber *fiber)
{
	size_t entered = 0;
	for (size_t i = 0; i < fiber->frame_count; i++)
		entered += rcore_enters_interpreter(&fiber->frames[i]);
	return entered;
}

/*
 * CRuby pushes the innermost control frame just before it enters the
 * interpreter for it.
 */
static bool may_be_outside(const struct rcore_fiber *fiber)
{
	return fiber->frame_count && rcore_enters_interpreter(&fiber->frames[0]);
}

static bool stands_in(const struct rcore_fiber *fiber, uint64_t function)
{
	for (size_t i = 0; i < fiber->native_count; i++)
		if (fiber->native[i].function_start == function ||
		    fiber->native[i].part_of == function)
			return true;
	return false;
}

bool rcore_activation_fits(const struct rcore_snapshot *snapshot, uint64_t activation)
{
	size_t studied = 0;
	for (size_t i = 0; i < snapshot->fiber_count && studied < SAMPLE; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (!is_whole(fiber) || count_entered(fiber) <= may_be_outside(fiber))
			continue;
		if (stands_in(fiber, activation))
			return true;
		studied++;
	}
	return !studied;
}

static struct candidate *candidate(struct learner *learner, uint64_t start)
{
	int index = rcore_address_map_get(&learner->at, start);
	if (index >= 0)
		return &learner->items[index];
	struct candidate *new = rcore_push(learner);
	if (!new || !rcore_address_map_put(&learner->at, start, (int)learner->count - 1))
		return NULL;
	new->start = start;
	return new;
}

static bool study(struct learner *learner, const struct rcore_fiber *fiber)
{
	size_t entered = count_entered(fiber);
	for (size_t i = 0; i < learner->count; i++)
		learner->items[i].here = 0;
	for (size_t i = fiber->native_count; i-- > 0;) {
		const struct rcore_native_frame *frame = &fiber->native[i];
		if (!frame->is_interpreter || !frame->function_start || frame->is_inlined)
			continue;
		struct candidate *found = candidate(learner, frame->function_start);
		if (!found)
			return false;
		if (!found->here++)
			found->depth += fiber->native_count - i;
	}
	for (size_t i = 0; i < learner->count; i++) {
		struct candidate *item = &learner->items[i];
		item->exact += entered > 1 && item->here == entered;
		item->fits += item->here == entered ||
			      (may_be_outside(fiber) && item->here + 1 == entered);
	}
	learner->stacks++;
	return true;
}

uint64_t rcore_learn_activation(const struct rcore_snapshot *snapshot)
{
	struct learner learner = {0};
	const struct candidate *best = NULL;
	bool ok = true;
	for (size_t i = 0; ok && i < snapshot->fiber_count && learner.stacks < SAMPLE; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (is_whole(fiber) && count_entered(fiber))
			ok = study(&learner, fiber);
	}
	for (size_t i = 0; i < learner.count; i++) {
		const struct candidate *item = &learner.items[i];
		if (item->exact && item->fits == learner.stacks &&
		    (!best || item->exact > best->exact ||
		     (item->exact == best->exact && item->depth < best->depth)))
			best = item;
	}
	uint64_t start = ok && best ? best->start : 0;
	free(learner.items);
	rcore_address_map_deinit(&learner.at);
	return start;
}
