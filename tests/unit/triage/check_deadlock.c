/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "model/wait_text.h"
#include "suite.h"
#include "threads.h"
#include "triage/deadlock.h"

/* Compares what is found, one per line. */
static void expect(struct rcore_test_threads *test, const char *expected)
{
	char text[1024] = "";
	ck_assert_ptr_null(rcore_deadlocks_find(&test->snapshot));
	for (size_t i = 0; i < test->snapshot.deadlock_count; i++) {
		strcat(text, test->snapshot.deadlocks[i].text);
		strcat(text, "\n");
	}
	ck_assert_str_eq(text, expected);
	rcore_arena_deinit(&test->snapshot.arena);
}

START_TEST(test_two)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 3, 0);
	rcore_test_want(&test, 2, 1);
	rcore_test_want(&test, 1, 2)->kind = RCORE_WAIT_MONITOR;
	expect(&test, "T2 waits for Monitor 0x1002 held by T3, which waits for Mutex 0x1001 "
		      "held by T2\n");
}
END_TEST

/*
 * A fiber that only waits for those is not part of it; a second deadlock is
 * found, too.
 */
START_TEST(test_three_and_two)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 7, 0);
	rcore_test_want(&test, 0, 1);
	rcore_test_want(&test, 1, 2);
	rcore_test_want(&test, 2, 3);
	rcore_test_want(&test, 3, 1);
	rcore_test_want(&test, 6, 5);
	rcore_test_want(&test, 5, 6);
	expect(&test, "T2 waits for Mutex 0x1002 held by T3, which waits for Mutex 0x1003 "
		      "held by T4, which waits for Mutex 0x1001 held by T2\n"
		      "T6 waits for Mutex 0x1006 held by T7, which waits for Mutex 0x1005 "
		      "held by T6\n");
}
END_TEST

/* Where each of them waits: in the innermost frame of the application. */
START_TEST(test_places)
{
	struct rcore_frame frames[] = {
		{.kind = RCORE_FRAME_CFUNC, .label = "Thread::Mutex#lock"},
		{.label = "Cart#update", .path = "app/cart.rb", .line = 3},
		{.label = "Pool#run",
		 .path = "/usr/lib/ruby/gems/3.1.0/gems/pool-1.0/lib/pool.rb"},
	};
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 3, 0);
	for (int i = 0; i < 2; i++) {
		test.snapshot.fibers[i].frames = frames;
		test.snapshot.fibers[i].frame_count = i ? RCORE_COUNT(frames) : 1;
		rcore_test_want(&test, i, i + 1);
	}
	rcore_test_join(&test, 2, 0);
	expect(&test, "T1 waits for Mutex 0x1001 held by T2, which in Cart#update "
		      "(app/cart.rb:3) waits for Mutex 0x1002 held by T3, which waits for the "
		      "end of T1\n");
}
END_TEST

START_TEST(test_join)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 2, 0);
	rcore_test_join(&test, 0, 1);
	rcore_test_want(&test, 1, 0);
	expect(&test, "T1 waits for the end of T2, which waits for Mutex 0x1000 held by T1\n");
	rcore_test_threads_init(&test, 2, 0);
	rcore_test_join(&test, 0, 1)->is_timed = true;
	rcore_test_want(&test, 1, 0);
	expect(&test, "");
}
END_TEST

/* `holders` share the interlock, which T1 waits to lock, and T2 waits for T1. */
static void expect_interlock(int *holders, size_t count, const char *expected)
{
	struct rcore_test_threads test;
	struct rcore_pool pool = {.kind = RCORE_WAIT_INTERLOCK,
				  .object = 0x50,
				  .holders = holders,
				  .holder_count = count};
	rcore_test_threads_init(&test, 2, 0);
	test.snapshot.pools = &pool;
	test.snapshot.pool_count = 1;
	ck_assert(rcore_pools_index(&test.snapshot));
	struct rcore_wait *wait = rcore_test_wait(&test, 0, RCORE_WAIT_INTERLOCK);
	wait->object = pool.object;
	wait->wants = "lock";
	rcore_test_join(&test, 1, 0);
	expect(&test, expected);
}

/* No thread waits for its own share. */
START_TEST(test_interlock)
{
	int holders[] = {0, 1};
	expect_interlock(holders, 1, "");
	expect_interlock(holders, 2,
			 "T1 waits to lock the Rails interlock 0x50 shared by T2, which waits "
			 "for the end of T1\n");
}
END_TEST

/* An exception ends the wait after some time, whatever it is for. */
START_TEST(test_within)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 2, 0);
	rcore_test_want(&test, 0, 1);
	rcore_test_want(&test, 1, 0)->within = "Timeout.timeout";
	expect(&test, "");
	rcore_test_threads_init(&test, 2, 0);
	rcore_test_join(&test, 0, 1)->within = "Timeout.timeout";
	rcore_test_want(&test, 1, 0);
	expect(&test, "");
	rcore_test_threads_init(&test, 1, 0);
	struct rcore_wait *wait = rcore_test_want(&test, 0, 0);
	wait->owner = (struct rcore_owner){.thread = -1, .fiber = -1, .address = 0x99};
	wait->within = "Timeout.timeout";
	expect(&test, "");
}
END_TEST

/* A fiber that runs, sleeps or waits for a queue may still unlock. */
START_TEST(test_none)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 4, 1);
	int parked = rcore_test_add_fiber(&test, 3, false, RCORE_FIBER_SUSPENDED);
	rcore_test_want(&test, 0, 1);
	rcore_test_wait(&test, 1, RCORE_WAIT_SLEEP);
	rcore_test_want(&test, 2, parked);
	expect(&test, "");
	rcore_test_threads_init(&test, 2, 0);
	rcore_test_want(&test, 0, 1);
	rcore_test_wait(&test, 1, RCORE_WAIT_POP);
	expect(&test, "");
	/* Nor is a fiber blocked if its thread is in its scheduler. */
	rcore_test_threads_init(&test, 2, 1);
	parked = rcore_test_add_fiber(&test, 0, false, RCORE_FIBER_SUSPENDED);
	rcore_test_join(&test, 0, 1)->hook = "block";
	rcore_test_want(&test, 1, parked);
	expect(&test, "");
}
END_TEST

START_TEST(test_fibers)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 1, 1);
	int parked = rcore_test_add_fiber(&test, 0, false, RCORE_FIBER_SUSPENDED);
	rcore_test_want(&test, 0, parked);
	expect(&test, "T1.F0 waits for Mutex 0x1001 held by T1.F1, which cannot run before "
		      "T1.F0 does\n");

	rcore_test_threads_init(&test, 2, 1);
	parked = rcore_test_add_fiber(&test, 0, false, RCORE_FIBER_SUSPENDED);
	rcore_test_join(&test, 0, 1);
	rcore_test_want(&test, 1, parked);
	expect(&test, "T1.F0 waits for the end of T2, which waits for Mutex 0x1002 held by "
		      "T1.F1, which cannot run before T1.F0 does\n");

	/* A scheduler parked both of them. */
	rcore_test_threads_init(&test, 1, 2);
	int first = rcore_test_add_fiber(&test, 0, false, RCORE_FIBER_SUSPENDED);
	int second = rcore_test_add_fiber(&test, 0, false, RCORE_FIBER_SUSPENDED);
	rcore_test_want(&test, first, second)->hook = "block";
	rcore_test_want(&test, second, first)->hook = "block";
	expect(&test, "T1.F1 waits for Mutex 0x1002 held by T1.F2, which waits for Mutex "
		      "0x1001 held by T1.F1\n");
}
END_TEST

/* Tasks of a library that wait for each other's end. */
START_TEST(test_tasks)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 1, 3);
	int tasks[3];
	for (size_t i = 0; i < RCORE_COUNT(tasks); i++)
		tasks[i] = rcore_test_add_fiber(&test, 0, false, RCORE_FIBER_SUSPENDED);
	for (size_t i = 0; i < RCORE_COUNT(tasks); i++)
		rcore_test_wait(&test, tasks[i], RCORE_WAIT_TASK)->owner.fiber =
			tasks[(i + 1) % RCORE_COUNT(tasks)];
	expect(&test, "T1.F1 waits for the end of T1.F2, which waits for the end of T1.F3, "
		      "which waits for the end of T1.F1\n");
	/* One of them goes on later. */
	test.snapshot.fibers[tasks[1]].wait->is_timed = true;
	test.snapshot.deadlock_count = 0;
	expect(&test, "");
}
END_TEST

/* Up to 2.7, a thread owns a lock: its current fiber must continue. */
START_TEST(test_owned_by_threads)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 2, 0);
	rcore_test_want(&test, 0, 1)->owner.fiber = -1;
	rcore_test_want(&test, 1, 0)->owner.fiber = -1;
	expect(&test, "T1 waits for Mutex 0x1001 held by T2, which waits for Mutex 0x1000 "
		      "held by T1\n");
}
END_TEST

START_TEST(test_ended)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 2, 1);
	int done = rcore_test_add_fiber(&test, 0, false, RCORE_FIBER_TERMINATED);
	rcore_test_want(&test, 1, done);
	ck_assert_ptr_null(rcore_deadlocks_find(&test.snapshot));
	ck_assert_uint_eq(test.snapshot.deadlock_count, 1);
	ck_assert(!test.snapshot.deadlocks[0].is_cycle);
	ck_assert_str_eq(test.snapshot.deadlocks[0].text,
			 "T2 waits for Mutex 0x1002 held by T1.F1, which has ended and never "
			 "unlocked it");
	rcore_arena_deinit(&test.snapshot.arena);

	rcore_test_threads_init(&test, 2, 0);
	struct rcore_wait *wait = rcore_test_want(&test, 1, 0);
	wait->owner = (struct rcore_owner){.thread = 0, .fiber = -1, .address = 0xdead};
	expect(&test,
	       "T2 waits for Mutex 0x1000 held by a fiber of T1 that no longer exists and "
	       "never unlocked it\n");
}
END_TEST

/* A long cycle: nothing recurses. */
START_TEST(test_long)
{
	enum { COUNT = 200000 };
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, COUNT, 0);
	for (int i = 0; i < COUNT; i++)
		rcore_test_want(&test, i, (i + 1) % COUNT);
	ck_assert_ptr_null(rcore_deadlocks_find(&test.snapshot));
	ck_assert_uint_eq(test.snapshot.deadlock_count, 1);
	ck_assert_uint_eq(test.snapshot.deadlocks[0].count, COUNT);
	rcore_arena_deinit(&test.snapshot.arena);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_two,    test_three_and_two, test_join,
				      test_within, test_places,        test_none,
				      test_fibers, test_tasks,         test_owned_by_threads,
				      test_ended,  test_long,          test_interlock};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "deadlock", .tests = tests, .count = RCORE_COUNT(tests)});
}
