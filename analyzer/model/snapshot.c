/* SPDX-License-Identifier: MIT */
#include "model/snapshot.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/order.h"
#include "model/wait_text.h"

/*
 * These are functions because only librcore knows the size of an element: a
 * caller may have been compiled with older headers.
 */
#define AT(items, count, index) \
	((index) < 0 || (size_t)(index) >= (count) ? NULL : &(items)[index])

const struct rcore_thread *rcore_snapshot_thread(const struct rcore_snapshot *snapshot,
						 int index)
{
	return AT(snapshot->threads, snapshot->thread_count, index);
}

const struct rcore_fiber *rcore_snapshot_fiber(const struct rcore_snapshot *snapshot, int index)
{
	return AT(snapshot->fibers, snapshot->fiber_count, index);
}

const struct rcore_frame *rcore_fiber_frame(const struct rcore_fiber *fiber, int index)
{
	return AT(fiber->frames, fiber->frame_count, index);
}

const struct rcore_native_frame *rcore_fiber_native_frame(const struct rcore_fiber *fiber,
							  int index)
{
	return AT(fiber->native, fiber->native_count, index);
}

const char *rcore_fiber_text(const struct rcore_snapshot *snapshot, int index)
{
	const struct rcore_fiber *fiber = &snapshot->fibers[index];
	const struct rcore_thread *thread =
		fiber->thread < 0 ? NULL : &snapshot->threads[fiber->thread];
	return thread && thread->fiber_count == 1 && !thread->is_ended ? thread->id : fiber->id;
}

void rcore_fibers_write(const struct rcore_snapshot *snapshot, const int *fibers, size_t count,
			FILE *out)
{
	enum { SHOWN = 5 };
	for (size_t i = 0; i < count && i < SHOWN; i++)
		fprintf(out, "%s%s", i ? " " : "", rcore_fiber_text(snapshot, fibers[i]));
	if (count > SHOWN)
		fprintf(out, " and %zu more", count - SHOWN);
}

static int by_object(const void *left, const void *right, void *context)
{
	const struct rcore_pool *pools = context;
	const uint64_t a = pools[*(const int *)left].object;
	const uint64_t b = pools[*(const int *)right].object;
	return a < b ? -1 : a > b;
}

/*
 * Each fiber may wait for a pool of its own. The pools themselves stay in the
 * order in which they were found, which is that of the fibers.
 */
bool rcore_pools_index(struct rcore_snapshot *snapshot)
{
	const size_t count = snapshot->pool_count;
	int *sorted = rcore_arena_array(&snapshot->arena, count, sizeof(*sorted));
	if (!sorted)
		return false;
	for (size_t i = 0; i < count; i++)
		sorted[i] = (int)i;
	if (count)
		qsort_r(sorted, count, sizeof(*sorted), by_object, snapshot->pools);
	snapshot->pools_by_object = sorted;
	return true;
}

const struct rcore_pool *rcore_wait_pool(const struct rcore_snapshot *snapshot,
					 const struct rcore_wait *wait)
{
	const struct rcore_pool *pools = snapshot->pools;
	const int *order = snapshot->pools_by_object;
	const size_t count = order ? snapshot->pool_count : 0;
	const size_t found = RCORE_PARTITION_POINT(count, middle,
						   pools[order[middle]].object < wait->object);
	return found < count && pools[order[found]].object == wait->object
		       ? &pools[order[found]]
		       : NULL;
}

size_t rcore_interlock_holders(const struct rcore_snapshot *snapshot,
			       const struct rcore_wait *wait, int *ret)
{
	const struct rcore_pool *pool = rcore_wait_pool(snapshot, wait);
	size_t count = 0;
	if (!pool)
		return 0;
	bool is_shared = !pool->is_exclusive && !rcore_wait_is_exclusive(wait);
	size_t holders = is_shared ? pool->first_count : pool->holder_count;
	for (; count < holders && count < RCORE_INTERLOCK_HOLDERS; count++)
		ret[count] = is_shared ? pool->first[count] : pool->holders[count];
	return count;
}
