/* SPDX-License-Identifier: MIT */
/* Tests what is read again while a process is stopped: which pages, and by which threads. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/count.h"
#include "base/page_buffer.h"
#include "base/second_thread.h"
#include "base/standby.h"
#include "live_child.h"
#include "suite.h"
#include "target/live/live_private.h"
#include "target/live/pages/live_pages_private.h"

/*
 * This program changes all pages after the copy. Those that rested are read
 * again only if they were woken, in whatever order. The last page, which is
 * first read after the others were noted, is read again, too.
 */
START_TEST(wakes_in_any_order)
{
	enum { COUNT = 64, PAGE = 4096, SIZE = (COUNT + 1) * PAGE, OLD = 1, NEW = 2, STEP = 3 };
	uint8_t byte, *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(bytes, MAP_FAILED);
	memset(bytes, OLD, SIZE);
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	const uint64_t start = address_of(bytes);
	rcore_live_forget(live);
	rcore_live_keep(live, start, start + COUNT * PAGE);
	live_copied_ahead(live);
	ck_assert_uint_eq(rcore_live_rest(live, start, start + COUNT * PAGE), COUNT * PAGE);
	rcore_live_note_awake(live);
	ck_assert_int_eq(rcore_read(rcore_live_memory(live), start + COUNT * PAGE, &byte, 1),
			 RCORE_FAULT_NONE);
	memset(bytes, NEW, SIZE);
	child_runs(&child);
	live_begun(live, true);
	for (int i = COUNT - 1; i >= 0; i -= STEP)
		rcore_live_wake(live, start + (uint64_t)i * PAGE,
				start + (uint64_t)i * PAGE + 1);
	rcore_live_fetch(live);
	live_ended(live);
	for (int i = 0; i <= COUNT; i++) {
		const bool is_woken = i == COUNT || (COUNT - 1 - i) % STEP == 0;
		uint8_t copy[PAGE];
		ck_assert_int_eq(rcore_read(rcore_live_memory(live), start + (uint64_t)i * PAGE,
					    copy, PAGE),
				 RCORE_FAULT_NONE);
		for (int k = 0; k < PAGE; k++)
			ck_assert_int_eq(copy[k], is_woken ? NEW : OLD);
	}
	rcore_live_close(live);
	child_stop(&child);
	munmap(bytes, SIZE);
}
END_TEST

/*
 * Pages that were woken before the process was stopped are read even if no
 * thread has run since the copy, and the others need not be read again.
 */
START_TEST(reads_what_woke_early)
{
	enum { COUNT = 8, PAGE = 4096 };
	uint8_t *bytes = mmap(NULL, COUNT * PAGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(bytes, MAP_FAILED);
	memset(bytes, 1, COUNT * PAGE);
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	const uint64_t start = address_of(bytes), end = start + COUNT * PAGE;
	struct rcore_live_pause pause, none;
	uint8_t byte;
	rcore_live_forget(live);
	rcore_live_keep(live, start, end);
	live_copied_ahead(live);
	ck_assert_uint_eq(rcore_live_rest(live, start, end), COUNT * PAGE);
	rcore_live_wake(live, start, end);
	rcore_live_note_awake(live);
	live_begun(live, true);
	rcore_live_release(live, &pause);
	for (uint64_t at = start; at < end; at += PAGE)
		ck_assert_int_eq(rcore_read(rcore_live_memory(live), at, &byte, 1),
				 RCORE_FAULT_NONE);
	ck_assert(!rcore_live_has_missed(live));
	rcore_live_end(live, &none);
	rcore_live_close(live);
	child_stop(&child);
	munmap(bytes, COUNT * PAGE);
}
END_TEST

/* The hash is the same whatever the processor can do. */
START_TEST(digests_pages_alike)
{
	uint8_t *page = rcore_page_buffer(RCORE_LIVE_PAGE);
	ck_assert_ptr_nonnull(page);
	srand((unsigned)getpid());
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < RCORE_LIVE_PAGE; k++)
			page[k] = (uint8_t)rand();
		ck_assert_uint_eq(rcore_live_page_digest(page),
				  XXH3_64bits(page, RCORE_LIVE_PAGE));
	}
	free(page);
}
END_TEST

static volatile sig_atomic_t children;

static void count_child(int number)
{
	(void)number;
	children++;
}

/* Each thread that stops would wake this one, which makes the stop longer. */
START_TEST(sleeps_while_threads_stop)
{
	const struct sigaction count = {.sa_handler = count_child}, plain = {0};
	struct child child = child_start(child_threads, NULL);
	struct rcore_live *live = live_opened(child.pid);
	ck_assert(!sigaction(SIGCHLD, &count, NULL));
	children = 0;
	live_begun(live, true);
	size_t stopped = rcore_live_process(live)->thread_count;
	live_ended(live);
	ck_assert_uint_gt(stopped, 1);
	ck_assert_int_le(children, 1);
	ck_assert(!sigaction(SIGCHLD, &plain, NULL));
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* Those that sleep are stopped before those that work. */
START_TEST(tells_sleepers_from_workers)
{
	enum { LOOKS = 20 };
	struct child child = child_start(child_threads, NULL);
	struct rcore_live_sleepers sleepers = {0};
	char path[64];
	int sleeping = 0, working = 0;
	snprintf(path, sizeof(path), "/proc/%d", child.pid);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(folder, 0);
	for (int i = 0; i < LOOKS; i++) {
		rcore_live_sleepers_note(&sleepers, folder);
		child_runs(&child);
		rcore_live_sleepers_check(&sleepers);
		sleeping += rcore_live_sleeps(&sleepers, child.pid);
		for (int k = 0; k < CHILD_THREADS; k++)
			working += !rcore_live_sleeps(&sleepers, child.shared->tids[k]);
		ck_assert(!rcore_live_sleeps(&sleepers, 1));
		rcore_live_sleepers_clear(&sleepers);
		ck_assert(!rcore_live_sleeps(&sleepers, child.pid));
	}
	ck_assert_int_gt(working, 0);
	ck_assert(sleeping || access("/proc/self/schedstat", R_OK));
	close(folder);
	child_stop(&child);
}
END_TEST

static void *count_up(void *argument)
{
	*(int *)argument += 1;
	return NULL;
}

/* A standby thread does its jobs in order, and then ends. */
START_TEST(standby_thread_works)
{
	enum { TIMES = 1000 };
	int count = 0;
	struct rcore_standby *standby = rcore_standby_start(NULL);
	ck_assert_ptr_nonnull(standby);
	for (int i = 0; i < TIMES; i++) {
		rcore_standby_give(standby, count_up, &count);
		rcore_standby_wait(standby);
		ck_assert_int_eq(count, i + 1);
	}
	rcore_standby_give(standby, count_up, &count);
	rcore_standby_stop(standby);
	ck_assert_int_eq(count, TIMES + 1);
	rcore_standby_stop(NULL);
}
END_TEST

/*
 * Two threads copy what is large; where it has gaps, each goes on after them.
 * If the copy was made ahead, the second one is a thread that was ready.
 */
START_TEST(copies_in_halves)
{
	enum { SIZE = 8 << 20, PAGE = 4096 };
	const size_t gaps[] = {0, SIZE / 4, SIZE / 2 - PAGE, SIZE / 2, SIZE - PAGE};
	uint8_t *bytes =
		mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(bytes, MAP_FAILED);
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i / PAGE * 7 + i);
	for (size_t i = 0; i < RCORE_COUNT(gaps); i++) {
		ck_assert_int_eq(madvise(bytes + gaps[i], PAGE, MADV_DONTNEED), 0);
		ck_assert_int_eq(mprotect(bytes + gaps[i], PAGE, PROT_NONE), 0);
	}
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	rcore_live_forget(live);
	/* The second round sorts what the first one has noted. */
	for (int round = 0; round < 2; round++) {
		rcore_live_keep(live, address_of(bytes), address_of(bytes) + SIZE);
		if (_i) {
			live_copied_ahead(live);
			rcore_live_note_awake(live);
			child_runs(&child);
		}
		live_begun(live, true);
		ck_assert(live->memory.standby || !_i || !rcore_has_processors());
		live_ended(live);
	}
	for (size_t at = 0, gap = 0; at < SIZE; at += PAGE) {
		uint8_t copy[PAGE], wanted[PAGE];
		bool is_gap = gap < RCORE_COUNT(gaps) && at == gaps[gap];
		enum rcore_fault fault =
			rcore_read(rcore_live_memory(live), address_of(bytes) + at, copy, PAGE);
		ck_assert_int_eq(fault != RCORE_FAULT_NONE, is_gap);
		gap += is_gap;
		for (size_t i = 0; i < PAGE; i++)
			wanted[i] = (uint8_t)(at / PAGE * 7 + at + i);
		ck_assert(is_gap || !memcmp(copy, wanted, PAGE));
	}
	rcore_live_close(live);
	child_stop(&child);
	munmap(bytes, SIZE);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {wakes_in_any_order,        reads_what_woke_early,
				      digests_pages_alike,       standby_thread_works,
				      sleeps_while_threads_stop, tells_sleepers_from_workers};
	const struct rcore_test_loop loops[] = {{copies_in_halves, 2}};
	const struct rcore_test_suite suite = {
		.name = "live, read again",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.timeout = 120,
	};
	return rcore_test_suite_run(&suite);
}
