/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <stdlib.h>

#include "base/arena.h"

static void *zeroed(struct rcore_test_threads *test, size_t size)
{
	void *memory = rcore_arena_alloc(&test->snapshot.arena, size);
	/* With ck_assert() here, the assertions would take most of the time. */
	if (!memory)
		abort();
	return memory;
}

int rcore_test_add_fiber(struct rcore_test_threads *test, int thread, bool current,
			 enum rcore_fiber_status status)
{
	struct rcore_snapshot *snapshot = &test->snapshot;
	int index = (int)snapshot->fiber_count++;
	if (index >= test->fiber_room)
		abort();
	struct rcore_fiber *fiber = &snapshot->fibers[index];
	struct rcore_thread *owner = &snapshot->threads[thread];
	if (!owner->fibers)
		owner->fibers = zeroed(test, (size_t)test->fibers_per_thread * sizeof(int));
	owner->fibers[owner->fiber_count] = index;
	snprintf(fiber->id, sizeof(fiber->id), "%s.F%zu", owner->id, owner->fiber_count++);
	fiber->thread = thread;
	fiber->is_current = current;
	fiber->status = status;
	if (current)
		owner->current_fiber = index;
	return index;
}

void rcore_test_threads_init(struct rcore_test_threads *test, size_t threads,
			     size_t more_fibers)
{
	*test = (struct rcore_test_threads){.fiber_room = (int)(threads + more_fibers),
					    .fibers_per_thread = (int)more_fibers + 1};
	struct rcore_snapshot *snapshot = &test->snapshot;
	snapshot->threads = zeroed(test, threads * sizeof(*snapshot->threads));
	snapshot->fibers = zeroed(test, (size_t)test->fiber_room * sizeof(*snapshot->fibers));
	snapshot->thread_count = threads;
	for (size_t i = 0; i < threads; i++) {
		snprintf(snapshot->threads[i].id, sizeof(snapshot->threads[i].id), "T%u",
			 (unsigned)i + 1);
		rcore_test_add_fiber(test, (int)i, true, RCORE_FIBER_RESUMED);
	}
}

struct rcore_wait *rcore_test_wait(struct rcore_test_threads *test, int fiber,
				   enum rcore_wait_kind kind)
{
	struct rcore_wait *wait = zeroed(test, sizeof(*wait));
	wait->kind = kind;
	wait->thread = wait->owner.thread = wait->owner.fiber = -1;
	test->snapshot.fibers[fiber].wait = wait;
	return wait;
}

struct rcore_wait *rcore_test_want(struct rcore_test_threads *test, int fiber, int owner)
{
	struct rcore_wait *wait = rcore_test_wait(test, fiber, RCORE_WAIT_MUTEX);
	wait->object = 0x1000u + (unsigned)owner;
	wait->owner.fiber = owner;
	wait->owner.thread = test->snapshot.fibers[owner].thread;
	return wait;
}

struct rcore_wait *rcore_test_join(struct rcore_test_threads *test, int fiber, int thread)
{
	struct rcore_wait *wait = rcore_test_wait(test, fiber, RCORE_WAIT_JOIN);
	wait->thread = thread;
	return wait;
}
