/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TESTS_THREADS_H
#define RCORE_TESTS_THREADS_H

#include "model/snapshot.h"

/*
 * Threads with a root fiber each, which a test lets wait for each other. The
 * caller ends them with rcore_arena_deinit(&test->snapshot.arena).
 */
struct rcore_test_threads {
	struct rcore_snapshot snapshot;
	int fiber_room, fibers_per_thread;
};

void rcore_test_threads_init(struct rcore_test_threads *test, size_t threads,
			     size_t more_fibers);

/* Returns the index of a new fiber of a thread. */
int rcore_test_add_fiber(struct rcore_test_threads *test, int thread, bool current,
			 enum rcore_fiber_status status);

/*
 * Makes a fiber wait: for anything, for a Mutex that another fiber holds, or
 * for a thread's end.
 */
struct rcore_wait *rcore_test_wait(struct rcore_test_threads *test, int fiber,
				   enum rcore_wait_kind kind);
struct rcore_wait *rcore_test_want(struct rcore_test_threads *test, int fiber, int owner);
struct rcore_wait *rcore_test_join(struct rcore_test_threads *test, int fiber, int thread);

#endif
