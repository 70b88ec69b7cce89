/* SPDX-License-Identifier: MIT */
#include "weave/learn.h"

#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "base/grow.h"

/* VM_FRAME_FLAG_FINISH of vm_core.h */
enum { FINISH = 0x20 };

/* Enough stacks to learn from; the rest follows the same rule. */
enum { SAMPLE = 256 };

struct candidate {
	uint64_t start;
	size_t stacks;      /* it stands in */
	size_t exact, near; /* ... as often as the interpreter was entered; one off */
	size_t here;        /* frames in the stack at hand */
	size_t depth; /* sum of the positions of its outermost frames: the less, the further out */
};

struct learner {
	struct candidate *items;
	size_t count, capacity;
	struct rcore_address_map at;
};

bool rcore_enters_interpreter(const struct rcore_frame *frame)
{
	return frame->flags & FINISH && !frame->under_construction &&
	       frame->kind != RCORE_FRAME_DUMMY && frame->kind != RCORE_FRAME_CFUNC &&
	       frame->kind != RCORE_FRAME_IFUNC;
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
	size_t entered = 0;
	for (size_t i = 0; i < fiber->frame_count; i++)
		entered += rcore_enters_interpreter(&fiber->frames[i]);
	for (size_t i = 0; i < learner->count; i++)
		learner->items[i].here = 0;
	for (size_t i = fiber->native_count; i-- > 0;) {
		const struct rcore_native_frame *frame = &fiber->native[i];
		if (!frame->is_interpreter || !frame->function_start || frame->is_inlined)
			continue;
		struct candidate *found = candidate(learner, frame->function_start);
		if (!found)
			return false;
		if (!found->here++) {
			found->stacks++;
			found->depth += fiber->native_count - i;
		}
	}
	for (size_t i = 0; i < learner->count; i++) {
		struct candidate *item = &learner->items[i];
		size_t off = item->here > entered ? item->here - entered : entered - item->here;
		item->exact += off == 0 && entered;
		item->near += off == 1 && item->here;
	}
	return true;
}

static bool better(const struct candidate *a, const struct candidate *b)
{
	if (!b)
		return true;
	if (a->exact != b->exact)
		return a->exact > b->exact;
	if (a->near != b->near)
		return a->near > b->near;
	/* Compared by mean depth without dividing. */
	return a->depth * b->stacks < b->depth * a->stacks;
}

uint64_t rcore_learn_activation(const struct rcore_snapshot *snapshot)
{
	struct learner learner = {0};
	const struct candidate *best = NULL;
	size_t studied = 0;
	bool ok = true;
	for (size_t i = 0; ok && i < snapshot->fiber_count && studied < SAMPLE; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (!fiber->frame_count || !fiber->native_count || fiber->native_problem)
			continue;
		studied++;
		ok = study(&learner, fiber);
	}
	for (size_t i = 0; i < learner.count; i++)
		if (learner.items[i].exact + learner.items[i].near &&
		    better(&learner.items[i], best))
			best = &learner.items[i];
	uint64_t start = ok && best ? best->start : 0;
	free(learner.items);
	rcore_address_map_deinit(&learner.at);
	return start;
}
