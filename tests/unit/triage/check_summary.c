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
#include "triage/summary.h"
#include "triage/workers.h"

static const char POOL[] = "/usr/lib/ruby/gems/3.1.0/gems/pool-1.0/lib/pool.rb";

/* Frames of a thread, innermost first; a count of 0 ends them. */
static const struct rcore_frame idle_frames[] = {
	{.kind = RCORE_FRAME_CFUNC, .label = "Thread::Queue#pop"},
	{.label = "block in Pool#run", .path = POOL, .line = 7, .iseq = 0x700},
};
static const struct rcore_frame busy_frames[] = {
	{.kind = RCORE_FRAME_CFUNC, .label = "IO#read"},
	{.label = "Rate.fetch", .path = "app/rate.rb", .line = 14, .iseq = 0x800},
	{.label = "block in Pool#run", .path = POOL, .line = 7, .iseq = 0x700},
};
static const struct rcore_frame own_frames[] = {
	{.kind = RCORE_FRAME_CFUNC, .label = "Thread::Queue#pop"},
	{.label = "block (2 levels) in Work#run",
	 .path = "app/work.rb",
	 .line = 3,
	 .iseq = 0x910},
	{.label = "block in Work#run", .path = "app/work.rb", .line = 2, .iseq = 0x900},
};

#define FRAMES(test, fiber, frames) \
	set_frames(&(test)->snapshot.fibers[fiber], (frames), RCORE_COUNT(frames))

static void set_frames(struct rcore_fiber *fiber, const struct rcore_frame *frames,
		       size_t count)
{
	fiber->frames = (struct rcore_frame *)frames; /* only read */
	fiber->frame_count = count;
}

/* Compares the lines, and then each group of threads: "T2 T3 idle". */
static void expect(struct rcore_test_threads *test, const char *expected)
{
	struct rcore_snapshot *snapshot = &test->snapshot;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	ck_assert_ptr_null(rcore_deadlocks_find(snapshot));
	rcore_idle_threads_find(snapshot);
	ck_assert_ptr_null(rcore_thread_groups_find(snapshot, false));
	ck_assert_ptr_null(rcore_summary_find(snapshot));
	for (size_t i = 0; i < snapshot->summary_count; i++)
		fprintf(out, "%s\n", snapshot->summary[i].text);
	for (size_t i = 0; i < snapshot->thread_group_count; i++) {
		const struct rcore_thread_group *group = &snapshot->thread_groups[i];
		for (size_t j = 0; j < group->count; j++)
			fprintf(out, "%s ", snapshot->threads[group->threads[j]].id);
		fputs(snapshot->threads[group->threads[0]].is_idle ? "idle\n" : "\n", out);
	}
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
	rcore_arena_deinit(&snapshot->arena);
}

/*
 * Adds a lock that fiber `owner` holds and the fibers `first` to `last` want.
 */
static void lock(struct rcore_test_threads *test, int owner, int first, int last)
{
	struct rcore_snapshot *snapshot = &test->snapshot;
	struct rcore_lock *locks = rcore_arena_alloc(
		&snapshot->arena, (snapshot->lock_count + 1) * sizeof(*locks));
	ck_assert_ptr_nonnull(locks);
	if (snapshot->lock_count)
		memcpy(locks, snapshot->locks, snapshot->lock_count * sizeof(*locks));
	snapshot->locks = locks;
	struct rcore_lock *added = &locks[snapshot->lock_count++];
	added->object = 0x1000u + (unsigned)owner;
	added->owner = (struct rcore_owner){snapshot->fibers[owner].thread, owner, 0};
	added->waiters = rcore_arena_alloc(&snapshot->arena, sizeof(int) * 64);
	ck_assert_ptr_nonnull(added->waiters);
	for (int i = first; i <= last; i++) {
		added->waiters[added->waiter_count++] = i;
		rcore_test_want(test, i, owner);
	}
}

START_TEST(test_nothing)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 3, 0);
	expect(&test, "");
	rcore_test_threads_init(&test, 0, 0);
	expect(&test, "");
}
END_TEST

/* Names the owner of the lock, what it does, and where in the application. */
START_TEST(test_lock)
{
	struct rcore_test_threads test;
	static struct rcore_wait_fd fd = {.fd = 11, .mode = "read"};
	rcore_test_threads_init(&test, 6, 0);
	lock(&test, 1, 2, 4);
	struct rcore_wait *wait = rcore_test_wait(&test, 1, RCORE_WAIT_IO);
	wait->fds = &fd;
	wait->fd_count = 1;
	FRAMES(&test, 1, busy_frames);
	expect(&test, "3 threads wait for Mutex 0x1001 held by T2, which waits to read fd 11 "
		      "in Rate.fetch (app/rate.rb:14)\n");
}
END_TEST

/* Names where the most waiters are first, and leaves out small places. */
START_TEST(test_places)
{
	static const struct rcore_frame places[][1] = {
		{{.label = "Page#load", .path = "app/page.rb", .line = 4}},
		{{.label = "Cart#update", .path = "app/cart.rb", .line = 3}},
		{{.label = "Cart#update", .path = "app/cart.rb", .line = 9}},
		{{.label = "Cart#clear", .path = "app/cart.rb"}},
	};
	static const struct {
		int of[7]; /* the place of each waiter; -1: no frames */
		const char *expected;
	} cases[] = {
		{{0, 0, 0, 0, 0, 0, 0}, "all 7 wait in Page#load (app/page.rb:4)"},
		{{0, 1, 1, 0, 1, 1, 0},
		 "4 wait in Cart#update (app/cart.rb:3), 3 in Page#load (app/page.rb:4)"},
		{{0, 1, 2, 2, 2, 1, 3},
		 "3 wait in Cart#update (app/cart.rb:9), 2 in Cart#update (app/cart.rb:3), "
		 "2 elsewhere"},
		{{-1, 3, -1, -1, -1, -1, -1}, "1 waits in Cart#clear (app/cart.rb), 6 unknown"},
	};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		struct rcore_test_threads test;
		char expected[512];
		rcore_test_threads_init(&test, 9, 0);
		lock(&test, 1, 2, 8);
		test.snapshot.threads[1].gvl = RCORE_GVL_HOLDER;
		for (int j = 0; j < 7; j++)
			if (cases[i].of[j] >= 0)
				FRAMES(&test, j + 2, places[cases[i].of[j]]);
		rcore_idle_threads_find(&test.snapshot);
		ck_assert_ptr_null(rcore_summary_find(&test.snapshot));
		snprintf(expected, sizeof(expected),
			 "7 threads wait for Mutex 0x1001 held by T2, which runs; %s",
			 cases[i].expected);
		ck_assert_str_eq(test.snapshot.summary[0].text, expected);
		rcore_arena_deinit(&test.snapshot.arena);
	}
	/*
	 * Of many places, one has more than one waiter. Frames of Ruby's own
	 * <internal:kernel> are no places.
	 */
	enum { OTHERS = 20 };
	struct rcore_frame others[OTHERS][2];
	struct rcore_test_threads many;
	rcore_test_threads_init(&many, OTHERS + 4, 0);
	lock(&many, 1, 2, OTHERS + 3);
	many.snapshot.threads[1].gvl = RCORE_GVL_HOLDER;
	for (int i = 0; i < OTHERS; i++) {
		others[i][0] = (struct rcore_frame){
			.label = "Kernel#tap", .path = "<internal:kernel>", .line = 89};
		others[i][1] = (struct rcore_frame){
			.label = "Pool#run", .path = POOL, .line = 100 + i};
		FRAMES(&many, i + 2, others[i]);
	}
	FRAMES(&many, OTHERS + 2, places[0]);
	FRAMES(&many, OTHERS + 3, places[0]);
	rcore_idle_threads_find(&many.snapshot);
	ck_assert_ptr_null(rcore_summary_find(&many.snapshot));
	ck_assert_str_eq(
		many.snapshot.summary[0].text,
		"22 threads wait for Mutex 0x1001 held by T2, which runs; 2 wait in "
		"Page#load (app/page.rb:4), 1 in Pool#run "
		"(/usr/lib/ruby/gems/3.1.0/gems/pool-1.0/lib/pool.rb:100), 19 elsewhere");
	rcore_arena_deinit(&many.snapshot.arena);
	/* One waiter is named. */
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 3, 0);
	lock(&test, 1, 2, 2);
	test.snapshot.threads[1].gvl = RCORE_GVL_HOLDER;
	FRAMES(&test, 2, busy_frames);
	expect(&test,
	       "T3 waits for Mutex 0x1001 held by T2, which runs; T3 waits in Rate.fetch "
	       "(app/rate.rb:14)\n");
}
END_TEST

/*
 * If a holder wants another lock itself, the last holder is the one to look at.
 */
START_TEST(test_chain)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 5, 0);
	lock(&test, 1, 2, 4);
	lock(&test, 0, 1, 1);
	test.snapshot.threads[0].gvl = RCORE_GVL_HOLDER;
	FRAMES(&test, 0, busy_frames);
	expect(&test,
	       "3 threads wait for Mutex 0x1001 held by T2, which waits for Mutex 0x1000 "
	       "held by T1, which runs in Rate.fetch (app/rate.rb:14)\n"
	       "T2 waits for Mutex 0x1000 held by T1, which runs in Rate.fetch "
	       "(app/rate.rb:14)\n");
}
END_TEST

/*
 * Threads that wait for the end of others: the line follows them to the last
 * one. There is no line if the thread that they wait for waits for no other.
 */
START_TEST(test_joins)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 6, 1);
	FRAMES(&test, 5, busy_frames);
	FRAMES(&test, 0, own_frames);
	rcore_test_join(&test, 4, 5);
	expect(&test, "");
	rcore_test_threads_init(&test, 6, 1);
	FRAMES(&test, 5, busy_frames);
	FRAMES(&test, 0, own_frames);
	lock(&test, 5, 3, 3);
	rcore_test_join(&test, 2, 3);
	rcore_test_join(&test, 0, 2);
	rcore_test_join(&test, 1, 2);
	expect(&test,
	       "2 threads wait for the end of T3, which waits for the end of T4, which waits "
	       "for "
	       "Mutex 0x1005 held by T6, which runs in Rate.fetch (app/rate.rb:14); 1 waits in "
	       "block (2 levels) in Work#run (app/work.rb:3), 1 unknown\n"
	       "T4 waits for Mutex 0x1005 held by T6, which runs in Rate.fetch "
	       "(app/rate.rb:14)\n");
	ck_assert_int_eq(test.snapshot.summary[0].kind, RCORE_SUMMARY_JOIN);
	ck_assert_int_eq(test.snapshot.summary[0].holder, 5);
	/* The holder of a lock waits for the end of a thread. */
	rcore_test_threads_init(&test, 6, 1);
	lock(&test, 1, 2, 2);
	rcore_test_join(&test, 1, 3);
	int parked = rcore_test_add_fiber(&test, 3, false, RCORE_FIBER_SUSPENDED);
	ck_assert_int_eq(parked, 6);
	rcore_test_wait(&test, 3, RCORE_WAIT_TASK)->owner.fiber = 5;
	rcore_test_wait(&test, 5, RCORE_WAIT_SLEEP)->argument = "5";
	expect(&test,
	       "T3 waits for Mutex 0x1001 held by T2, which waits for the end of T4, "
	       "which runs T4.F0, which waits for the end of T6, which sleeps for 5 s\n");
}
END_TEST

/* A chain may be long. If each wait has a timeout, it may end in a circle. */
START_TEST(test_long_chain)
{
	enum { COUNT = 20 };
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, COUNT, 0);
	for (int i = 0; i + 1 < COUNT; i++)
		rcore_test_join(&test, i, i + 1)->is_timed = true;
	rcore_test_wait(&test, COUNT - 1, RCORE_WAIT_STOP);
	expect(&test,
	       "T1 waits for the end of T2, which waits for the end of T3, with a timeout, "
	       "which waits for the end of T4, with a timeout, which waits for the end of T5, "
	       "with a timeout, which waits for the end of T6, with a timeout, which waits for "
	       "the end of T7, with a timeout, which waits for the end of T8, with a timeout, "
	       "which waits for the end of T9, with a timeout, and so on to T20, which stopped "
	       "itself (Thread.stop)\n");
	rcore_test_threads_init(&test, 4, 0);
	for (int i = 0; i < 4; i++)
		rcore_test_join(&test, i, i ? i % 3 + 1 : 1)->is_timed = true;
	expect(&test, "T1 waits for the end of T2, which waits for the end of T3, with a "
		      "timeout, which waits for the end of T4, with a timeout, which waits for "
		      "the end of T2, with a timeout\n");
}
END_TEST

/* Names where the holder of the lock is, not where that of the GVL is. */
START_TEST(test_lock_and_gvl)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 3, 0);
	lock(&test, 1, 2, 2);
	struct rcore_wait *wait = rcore_test_wait(&test, 1, RCORE_WAIT_GVL);
	wait->owner = (struct rcore_owner){0, 0, 0};
	FRAMES(&test, 1, busy_frames);
	rcore_idle_threads_find(&test.snapshot);
	ck_assert_ptr_null(rcore_summary_find(&test.snapshot));
	ck_assert_str_eq(test.snapshot.summary[0].text,
			 "T3 waits for Mutex 0x1001 held by T2, which is in Rate.fetch "
			 "(app/rate.rb:14) and waits for the GVL held by T1");
	rcore_arena_deinit(&test.snapshot.arena);
}
END_TEST

/*
 * Two threads that wait for each other are reported as a deadlock, and not
 * here. Threads that wait for these two have a line.
 */
START_TEST(test_deadlock)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 5, 0);
	lock(&test, 1, 2, 2);
	lock(&test, 2, 1, 1);
	expect(&test, "");
	rcore_test_threads_init(&test, 5, 0);
	lock(&test, 1, 2, 4);
	lock(&test, 2, 1, 1);
	expect(&test,
	       "3 threads wait for Mutex 0x1001 held by T2, which waits for Mutex 0x1002 "
	       "held by T3, which waits for Mutex 0x1001 held by T2\n");
}
END_TEST

/* T2 holds the GVL and runs a native function; T3 may wait for the GVL. */
static void expect_gvl(struct rcore_native_frame native, bool is_wanted, uint64_t held_ns,
		       const char *expected)
{
	struct rcore_test_threads test;
	struct rcore_step step = {.kind = RCORE_STEP_NATIVE};
	rcore_test_threads_init(&test, 4, 0);
	test.snapshot.threads[1].gvl = RCORE_GVL_HOLDER;
	test.snapshot.threads[1].gvl_held_ns = held_ns;
	test.snapshot.threads[2].gvl = is_wanted ? RCORE_GVL_WAITING : RCORE_GVL_UNKNOWN;
	test.snapshot.threads[3].gvl = RCORE_GVL_WAITING;
	/* waits for the GVL of another Ractor */
	test.snapshot.threads[3].ractor = 1;
	test.snapshot.fibers[1].native = &native;
	test.snapshot.fibers[1].native_count = 1;
	test.snapshot.fibers[1].steps = &step;
	test.snapshot.fibers[1].step_count = 1;
	FRAMES(&test, 1, busy_frames);
	expect(&test, expected);
}

START_TEST(test_gvl)
{
	expect_gvl((struct rcore_native_frame){.function = "inflate", .module = "libz.so.1"},
		   true, 0,
		   "T3 waits for the GVL held by T2, which runs inflate of libz.so.1 in "
		   "Rate.fetch (app/rate.rb:14)\n");
	expect_gvl((struct rcore_native_frame){.function = "sqlite3_step",
					       .module = "sqlite3_native.so",
					       .gem = "sqlite3-2.6.0"},
		   true, 0,
		   "T3 waits for the GVL held by T2, which runs sqlite3_step of "
		   "sqlite3_native.so, gem sqlite3-2.6.0, in Rate.fetch (app/rate.rb:14)\n");
}
END_TEST

START_TEST(test_gvl_held)
{
	expect_gvl((struct rcore_native_frame){.function = "onig_search",
					       .module = "libruby.so.3.4",
					       .is_interpreter = true},
		   false, 64000000,
		   "held by T2 for as long as rcore looked (64 ms), which runs a regexp match "
		   "(onig_search) in Rate.fetch (app/rate.rb:14)\n");
}
END_TEST

START_TEST(test_full_queue)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 4, 1);
	int parked = rcore_test_add_fiber(&test, 0, false, RCORE_FIBER_SUSPENDED);
	for (int i = 1; i <= parked; i++) {
		struct rcore_wait *wait = rcore_test_wait(&test, i, RCORE_WAIT_PUSH);
		wait->object = i == 3 ? 0x7f60 : 0x7f50;
		wait->has_counts = true;
		wait->max = 2;
		/* there is room: it is about to continue */
		wait->length = i == 3 ? 1 : 2;
	}
	expect(&test, "3 fibers wait for room in SizedQueue 0x7f50, which is full (2 of 2 "
		      "items)\n");
}
END_TEST

/*
 * One of the four threads of a pool works. Those that wait in the same way are
 * a group.
 */
START_TEST(test_pool)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 5, 0);
	test.snapshot.threads[0].is_main = true;
	for (int i = 1; i < 5; i++) {
		rcore_test_wait(&test, i, i == 2 ? RCORE_WAIT_IO : RCORE_WAIT_POP);
		if (i == 2)
			FRAMES(&test, i, busy_frames);
		else
			FRAMES(&test, i, idle_frames);
	}
	expect(&test, "4 threads started in Pool#run: 1 waits for IO in Rate.fetch "
		      "(app/rate.rb:14), 3 idle\n"
		      "T2 T4 T5 idle\n");
	rcore_test_threads_init(&test, 3, 0);
	for (int i = 1; i < 3; i++) {
		rcore_test_wait(&test, i, RCORE_WAIT_POP);
		FRAMES(&test, i, own_frames);
	}
	expect(&test, "2 threads started in Work#run: all idle\nT2 T3 idle\n");
}
END_TEST

/*
 * Why nobody is named who has acquired a semaphore, or holds the interlock.
 * Who wants to lock it first is known even then.
 */
START_TEST(test_unread)
{
	static const struct {
		enum rcore_wait_kind kind;
		bool is_unread;
		uint64_t used;
		size_t first_count;
		const char *text;
	} rows[] = {
		{RCORE_WAIT_SEMAPHORE, false, 3, 0,
		 "T1.F1 waits for semaphore 0x7f40 (3 of 3 acquired; by whom is unknown, "
		 "because acquire had no block)\n"},
		{RCORE_WAIT_SEMAPHORE, true, 3, 0,
		 "T1.F1 waits for semaphore 0x7f40 (3 of 3 acquired; by whom was not looked "
		 "at, because there are too many pools)\n"},
		{RCORE_WAIT_INTERLOCK, false, 3, 0,
		 "T1.F1 waits for the interlock (held by a thread that has ended)\n"},
		{RCORE_WAIT_INTERLOCK, true, 3, 0,
		 "T1.F1 waits for the interlock (by whom it is held was not looked at, "
		 "because there are too many pools)\n"},
		{RCORE_WAIT_INTERLOCK, true, 0, 0,
		 "T1.F1 waits for the interlock (whether it is held was not looked at, "
		 "because there are too many pools)\n"},
		{RCORE_WAIT_INTERLOCK, true, 0, 1,
		 "T1.F1 waits for the interlock (wanted by T1.F0), which runs\n"},
	};
	struct rcore_test_threads test;
	int waiter, first = 0;
	rcore_test_threads_init(&test, 1, 1);
	waiter = rcore_test_add_fiber(&test, 0, false, RCORE_FIBER_SUSPENDED);
	struct rcore_pool pool = {.kind = rows[_i].kind,
				  .resource = "the interlock",
				  .object = 0x7f40,
				  .size = 3,
				  .used = rows[_i].used,
				  .is_unread = rows[_i].is_unread,
				  .first = &first,
				  .first_count = rows[_i].first_count,
				  .waiters = &waiter,
				  .waiter_count = 1};
	rcore_test_wait(&test, waiter, pool.kind)->object = pool.object;
	test.snapshot.pools = &pool;
	test.snapshot.pool_count = 1;
	ck_assert(rcore_pools_index(&test.snapshot));
	expect(&test, rows[_i].text);
}
END_TEST

/*
 * A thread that serves a request is not idle, even if all of its frames are
 * code of gems. One that only makes a query is: it asks for work.
 */
START_TEST(test_request)
{
	struct rcore_work works[] = {{.recognizer = "SQL", .kind = "query"},
				     {.recognizer = "Rack", .kind = "request"}};
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 5, 0);
	for (int i = 1; i < 5; i++) {
		rcore_test_wait(&test, i, RCORE_WAIT_POP);
		FRAMES(&test, i, idle_frames);
	}
	test.snapshot.fibers[3].works = (struct rcore_works){works, 1};
	test.snapshot.fibers[4].works = (struct rcore_works){works, 2};
	expect(&test, "4 threads started in Pool#run: 1 waits for an item of a Queue, 3 idle\n"
		      "T2 T3 T4 idle\n");
	ck_assert(!test.snapshot.threads[4].is_idle);
}
END_TEST

/* A thread that waits for work is not idle if another one wants its lock. */
START_TEST(test_idle_holder)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 5, 0);
	for (int i = 1; i < 4; i++) {
		rcore_test_wait(&test, i, RCORE_WAIT_POP);
		FRAMES(&test, i, own_frames);
	}
	lock(&test, 3, 4, 4);
	expect(&test,
	       "T5 waits for Mutex 0x1003 held by T4, which waits for an item of Queue "
	       "0x0 in block (2 levels) in Work#run (app/work.rb:3)\n"
	       "3 threads started in Work#run: 1 waits for an item of a Queue in block (2 "
	       "levels) in Work#run (app/work.rb:3), 2 idle\n"
	       "T2 T3 idle\n");
	ck_assert(!test.snapshot.threads[3].is_idle);
}
END_TEST

/* Threads that wait for different objects, or have died, are not a group. */
START_TEST(test_groups)
{
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, 7, 1);
	for (int i = 0; i < 7; i++) {
		rcore_test_wait(&test, i, RCORE_WAIT_SLEEP);
		FRAMES(&test, i, own_frames);
	}
	test.snapshot.fibers[0].wait->kind = RCORE_WAIT_IO;
	test.snapshot.fibers[1].wait->is_timed = true;
	test.snapshot.threads[2].is_crashed = true;
	test.snapshot.threads[3].status = RCORE_THREAD_STOPPED;
	rcore_test_add_fiber(&test, 4, false, RCORE_FIBER_SUSPENDED);
	expect(&test, "7 threads started in Work#run: 6 sleep in block (2 levels) in Work#run "
		      "(app/work.rb:3), 1 waits for IO in block (2 levels) in Work#run "
		      "(app/work.rb:3)\n"
		      "T6 T7 \n");
}
END_TEST

/* A large snapshot has ten lines, too, and takes no quadratic time. */
START_TEST(test_many)
{
	enum { COUNT = 100000 };
	struct rcore_test_threads test;
	rcore_test_threads_init(&test, COUNT, 0);
	for (int i = 1; i < COUNT; i++) {
		rcore_test_wait(&test, i, RCORE_WAIT_POP)->object = 0x100000u + (unsigned)i;
		FRAMES(&test, i, own_frames);
	}
	for (int i = 0; i < 20; i++)
		lock(&test, 100 * i, 100 * i + 1, 100 * i + 1 + i);
	rcore_idle_threads_find(&test.snapshot);
	ck_assert_ptr_null(rcore_thread_groups_find(&test.snapshot, false));
	ck_assert_ptr_null(rcore_summary_find(&test.snapshot));
	ck_assert_uint_eq(test.snapshot.summary_count, RCORE_SUMMARY_LINES);
	for (int i = 0; i < RCORE_SUMMARY_LINES; i++)
		ck_assert_uint_eq(test.snapshot.summary[i].fiber_count, (size_t)(20 - i));
	rcore_arena_deinit(&test.snapshot.arena);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_nothing,      test_lock,     test_places, test_chain,
		test_lock_and_gvl, test_deadlock, test_gvl,    test_gvl_held,
		test_pool,         test_groups,   test_many,   test_full_queue,
		test_idle_holder,  test_request,  test_joins,  test_long_chain};
	const struct rcore_test_loop loops[] = {{test_unread, 6}};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "summary",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	});
}
