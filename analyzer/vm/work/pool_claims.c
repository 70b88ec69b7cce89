/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/text.h"
#include "ruby/heap/moved.h"
#include "ruby/object/value.h"
#include "vm/work/pools_private.h"

/*
 * What shows that a fiber has something is in the fiber, not in the pool. So
 * all fibers are read once, however many pools there are.
 */

bool rcore_pool_may_read(struct rcore_pool_search *search)
{
	search->is_limited |= search->reads == RCORE_POOL_READS;
	search->reads += !search->is_limited;
	return !search->is_limited;
}

static int compare(const void *left, const void *right)
{
	const struct rcore_pool_claim *a = left, *b = right;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	int order = strcmp(a->name, b->name);
	return order ? order : a->fiber - b->fiber;
}

static struct rcore_error *add(struct rcore_pool_claims *claims, uint64_t object,
			       const char *name, size_t fiber)
{
	struct rcore_pool_claim *claim = rcore_push(claims);
	if (!claim)
		return rcore_error_no_memory();
	*claim = (struct rcore_pool_claim){object, name, (int)fiber};
	return NULL;
}

static bool acquires(const struct rcore_frame *frame)
{
	static const char *const methods[] = {"Async::Semaphore#acquire",
					      "block in Async::Semaphore#async"};
	for (size_t i = 0; i < RCORE_COUNT(methods); i++)
		if (rcore_same_text(frame->label, methods[i]))
			return true;
	return false;
}

static struct rcore_error *add_frames(const struct rcore_pool_search *search, size_t index,
				      struct rcore_pool_claims *claims)
{
	const struct rcore_fiber *fiber = &search->snapshot->fibers[index];
	const struct rcore_wait *wait = fiber->wait;
	struct rcore_error *err = NULL;
	uint64_t wanted = wait && wait->kind == RCORE_WAIT_SEMAPHORE
				  ? rcore_moved_to(search->ruby, wait->object)
				  : 0;
	for (size_t i = 0; !err && i < fiber->frame_count; i++) {
		if (!acquires(&fiber->frames[i]))
			continue;
		uint64_t semaphore = rcore_moved_to(search->ruby, fiber->frames[i].self);
		if (semaphore != wanted)
			err = add(claims, semaphore, "", index);
	}
	return err;
}

static struct rcore_error *add_locals(const struct rcore_pool_search *search, size_t index,
				      struct rcore_pool_claims *claims)
{
	const struct rcore_variables *locals = &search->snapshot->fibers[index].locals;
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < locals->count; i++) {
		const struct rcore_variable *local = &locals->items[i];
		if (local->name && !rcore_is_nil(search->ruby, local->value.value))
			err = add(claims, 0, local->name, index);
	}
	return err;
}

static struct rcore_error *
find_all(const struct rcore_pool_search *search,
	 struct rcore_error *(*add_fiber)(const struct rcore_pool_search *search, size_t index,
					  struct rcore_pool_claims *claims),
	 struct rcore_pool_claims *claims)
{
	struct rcore_error *err = NULL;
	if (claims->is_complete)
		return NULL;
	for (size_t i = 0; !err && i < search->snapshot->fiber_count; i++)
		err = add_fiber(search, i, claims);
	if (claims->count)
		qsort(claims->items, claims->count, sizeof(*claims->items), compare);
	claims->is_complete = !err;
	return err;
}

static struct rcore_error *add_holders(struct rcore_pool_search *search,
				       const struct rcore_pool_claims *claims, uint64_t object,
				       const char *name)
{
	const struct rcore_pool_claim wanted = {object, name, 0};
	size_t at = RCORE_PARTITION_POINT(claims->count, middle,
					  compare(&claims->items[middle], &wanted) < 0);
	for (int last = -1; at < claims->count && rcore_pool_may_read(search); at++) {
		const struct rcore_pool_claim *claim = &claims->items[at];
		if (claim->object != object || strcmp(claim->name, name) != 0)
			break;
		/* Several frames of a fiber may claim the same. */
		if (claim->fiber == last)
			continue;
		last = claim->fiber;
		int *holder = rcore_push(&search->holders);
		if (!holder)
			return rcore_error_no_memory();
		*holder = last;
	}
	return NULL;
}

struct rcore_error *rcore_pool_find_in_frames(struct rcore_pool_search *search,
					      uint64_t semaphore)
{
	struct rcore_error *err = find_all(search, add_frames, &search->frames);
	return err ? err
		   : add_holders(search, &search->frames,
				 rcore_moved_to(search->ruby, semaphore), "");
}

struct rcore_error *rcore_pool_find_in_locals(struct rcore_pool_search *search,
					      const char *name)
{
	struct rcore_error *err = find_all(search, add_locals, &search->locals);
	return err ? err : add_holders(search, &search->locals, 0, name);
}
