/* SPDX-License-Identifier: MIT */
#include "model/snapshot.h"

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
