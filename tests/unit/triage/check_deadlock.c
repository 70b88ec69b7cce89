/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "triage/deadlock.h"

/* Threads with a root fiber each, which a test lets wait for each other. */
struct crowd {
	struct rcore_snapshot snapshot;
	int fiber_room;
};

static void *zeroed(struct crowd *crowd, size_t size)
{
	void *memory = rcore_arena_alloc(&crowd->snapshot.arena, size);
	if (!memory) /* an assertion each would take longer than the test */
		abort();
	return memory;
}

static int add_fiber(struct crowd *crowd, int thread, bool current,
		     enum rcore_fiber_status status)
{
	struct rcore_snapshot *snapshot = &crowd->snapshot;
	int index = (int)snapshot->fiber_count++;
	if (index >= crowd->fiber_room)
		abort();
	struct rcore_fiber *fiber = &snapshot->fibers[index];
	struct rcore_thread *owner = &snapshot->threads[thread];
	snprintf(fiber->id, sizeof(fiber->id), "%s.F%zu", owner->id, owner->fiber_count++);
	fiber->thread = thread;
	fiber->is_current = current;
	fiber->status = status;
	if (current)
		owner->current_fiber = index;
	return index;
}

static void begin(struct crowd *crowd, size_t threads, size_t more_fibers)
{
	*crowd = (struct crowd){.fiber_room = (int)(threads + more_fibers)};
	struct rcore_snapshot *snapshot = &crowd->snapshot;
	snapshot->threads = zeroed(crowd, threads * sizeof(*snapshot->threads));
	snapshot->fibers = zeroed(crowd, (size_t)crowd->fiber_room * sizeof(*snapshot->fibers));
	snapshot->thread_count = threads;
	for (size_t i = 0; i < threads; i++) {
		snprintf(snapshot->threads[i].id, sizeof(snapshot->threads[i].id), "T%zu",
			 i + 1);
		add_fiber(crowd, (int)i, true, RCORE_FIBER_RESUMED);
	}
}

static struct rcore_wait *waits(struct crowd *crowd, int fiber, enum rcore_wait_kind kind)
{
	struct rcore_wait *wait = zeroed(crowd, sizeof(*wait));
	wait->kind = kind;
	wait->thread = wait->owner.thread = wait->owner.fiber = -1;
	crowd->snapshot.fibers[fiber].wait = wait;
	return wait;
}

static struct rcore_wait *wants(struct crowd *crowd, int fiber, int owner)
{
	struct rcore_wait *wait = waits(crowd, fiber, RCORE_WAIT_MUTEX);
	wait->object = 0x1000u + (unsigned)owner;
	wait->owner.fiber = owner;
	wait->owner.thread = crowd->snapshot.fibers[owner].thread;
	return wait;
}

static struct rcore_wait *joins(struct crowd *crowd, int fiber, int thread)
{
	struct rcore_wait *wait = waits(crowd, fiber, RCORE_WAIT_JOIN);
	wait->thread = thread;
	return wait;
}

/* What is found, a line each. */
static void expect(struct crowd *crowd, const char *expected)
{
	char text[1024] = "";
	ck_assert_ptr_null(rcore_deadlocks_find(&crowd->snapshot));
	for (size_t i = 0; i < crowd->snapshot.deadlock_count; i++) {
		strcat(text, crowd->snapshot.deadlocks[i].text);
		strcat(text, "\n");
	}
	ck_assert_str_eq(text, expected);
	rcore_arena_deinit(&crowd->snapshot.arena);
}

START_TEST(test_two)
{
	struct crowd crowd;
	begin(&crowd, 3, 0);
	wants(&crowd, 2, 1);
	wants(&crowd, 1, 2)->kind = RCORE_WAIT_MONITOR;
	expect(&crowd, "T2 waits for Monitor 0x1002 held by T3, which waits for Mutex 0x1001 "
		       "held by T2\n");
}
END_TEST

/* Who only waits for those is no part of it; a second one beside it is found too. */
START_TEST(test_three_and_two)
{
	struct crowd crowd;
	begin(&crowd, 7, 0);
	wants(&crowd, 0, 1);
	wants(&crowd, 1, 2);
	wants(&crowd, 2, 3);
	wants(&crowd, 3, 1);
	wants(&crowd, 6, 5);
	wants(&crowd, 5, 6);
	expect(&crowd, "T2 waits for Mutex 0x1002 held by T3, which waits for Mutex 0x1003 "
		       "held by T4, which waits for Mutex 0x1001 held by T2\n"
		       "T6 waits for Mutex 0x1006 held by T7, which waits for Mutex 0x1005 "
		       "held by T6\n");
}
END_TEST

START_TEST(test_join)
{
	struct crowd crowd;
	begin(&crowd, 2, 0);
	joins(&crowd, 0, 1);
	wants(&crowd, 1, 0);
	expect(&crowd, "T1 waits for the end of T2, which waits for Mutex 0x1000 held by T1\n");
	begin(&crowd, 2, 0);
	joins(&crowd, 0, 1)->is_timed = true;
	wants(&crowd, 1, 0);
	expect(&crowd, "");
}
END_TEST

/* Whoever runs, sleeps or waits for a queue may yet unlock. */
START_TEST(test_none)
{
	struct crowd crowd;
	begin(&crowd, 4, 1);
	int parked = add_fiber(&crowd, 3, false, RCORE_FIBER_SUSPENDED);
	wants(&crowd, 0, 1);
	waits(&crowd, 1, RCORE_WAIT_SLEEP);
	wants(&crowd, 2, parked);
	expect(&crowd, "");
	begin(&crowd, 2, 0);
	wants(&crowd, 0, 1);
	waits(&crowd, 1, RCORE_WAIT_POP);
	expect(&crowd, "");
	/* Nor is a fiber stuck whose thread is in its scheduler. */
	begin(&crowd, 2, 1);
	parked = add_fiber(&crowd, 0, false, RCORE_FIBER_SUSPENDED);
	joins(&crowd, 0, 1)->hook = "block";
	wants(&crowd, 1, parked);
	expect(&crowd, "");
}
END_TEST

START_TEST(test_fibers)
{
	struct crowd crowd;
	begin(&crowd, 1, 1);
	int parked = add_fiber(&crowd, 0, false, RCORE_FIBER_SUSPENDED);
	wants(&crowd, 0, parked);
	expect(&crowd, "T1.F0 waits for Mutex 0x1001 held by T1.F1, which cannot run before "
		       "T1.F0 does\n");

	begin(&crowd, 2, 1);
	parked = add_fiber(&crowd, 0, false, RCORE_FIBER_SUSPENDED);
	joins(&crowd, 0, 1);
	wants(&crowd, 1, parked);
	expect(&crowd, "T1.F0 waits for the end of T2, which waits for Mutex 0x1002 held by "
		       "T1.F1, which cannot run before T1.F0 does\n");

	/* Parked by a scheduler, both of them. */
	begin(&crowd, 1, 2);
	int first = add_fiber(&crowd, 0, false, RCORE_FIBER_SUSPENDED);
	int second = add_fiber(&crowd, 0, false, RCORE_FIBER_SUSPENDED);
	wants(&crowd, first, second)->hook = "block";
	wants(&crowd, second, first)->hook = "block";
	expect(&crowd, "T1.F1 waits for Mutex 0x1002 held by T1.F2, which waits for Mutex "
		       "0x1001 held by T1.F1\n");
}
END_TEST

/* Up to 2.7 a thread owns a lock: what it runs must go on. */
START_TEST(test_owned_by_threads)
{
	struct crowd crowd;
	begin(&crowd, 2, 0);
	wants(&crowd, 0, 1)->owner.fiber = -1;
	wants(&crowd, 1, 0)->owner.fiber = -1;
	expect(&crowd, "T1 waits for Mutex 0x1001 held by T2, which waits for Mutex 0x1000 "
		       "held by T1\n");
}
END_TEST

START_TEST(test_ended)
{
	struct crowd crowd;
	begin(&crowd, 2, 1);
	int done = add_fiber(&crowd, 0, false, RCORE_FIBER_TERMINATED);
	wants(&crowd, 1, done);
	ck_assert_ptr_null(rcore_deadlocks_find(&crowd.snapshot));
	ck_assert_uint_eq(crowd.snapshot.deadlock_count, 1);
	ck_assert(!crowd.snapshot.deadlocks[0].is_cycle);
	ck_assert_str_eq(crowd.snapshot.deadlocks[0].text,
			 "T2 waits for Mutex 0x1002 held by T1.F1, which has ended and never "
			 "unlocked it");
	rcore_arena_deinit(&crowd.snapshot.arena);

	begin(&crowd, 2, 0);
	struct rcore_wait *wait = wants(&crowd, 1, 0);
	wait->owner = (struct rcore_owner){.thread = 0, .fiber = -1, .address = 0xdead};
	expect(&crowd, "T2 waits for Mutex 0x1000 held by a fiber of T1 that is no more and "
		       "never unlocked it\n");
}
END_TEST

/* A long chain that closes: nothing recurses. */
START_TEST(test_long)
{
	enum { COUNT = 200000 };
	struct crowd crowd;
	begin(&crowd, COUNT, 0);
	for (int i = 0; i < COUNT; i++)
		wants(&crowd, i, (i + 1) % COUNT);
	ck_assert_ptr_null(rcore_deadlocks_find(&crowd.snapshot));
	ck_assert_uint_eq(crowd.snapshot.deadlock_count, 1);
	ck_assert_uint_eq(crowd.snapshot.deadlocks[0].count, COUNT);
	rcore_arena_deinit(&crowd.snapshot.arena);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_two,   test_three_and_two, test_join,
				      test_none,  test_fibers,        test_owned_by_threads,
				      test_ended, test_long};
	Suite *suite = suite_create("deadlock");
	TCase *tcase = tcase_create("deadlock");
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
