/* SPDX-License-Identifier: MIT */
/*
 * Tests copies of parked fibers while these run. A fiber here is a word that
 * says whether it runs, and pages in which all words are the same while it is
 * parked.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/count.h"
#include "live_child.h"
#include "suite.h"

enum { COUNT = 200, PAGE = 4096, PAGES = 6, WORDS = PAGES * PAGE / 8, ROUNDS = 60 };

struct fibers {
	volatile uint64_t runs[COUNT];
	volatile uint64_t stacks[COUNT][WORDS] __attribute__((aligned(PAGE)));
};

static struct fibers *new_fibers(void)
{
	struct fibers *fibers = mmap(NULL, sizeof(*fibers), PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ck_assert_ptr_ne(fibers, MAP_FAILED);
	return fibers;
}

/*
 * Writes the turn's number into all words, of which any may be the first. The
 * fiber may begin and end to run within one copy.
 */
static void run(struct fibers *fibers, size_t index, uint64_t turn)
{
	size_t from = turn % 3 ? 0 : (size_t)rand() % WORDS;
	fibers->runs[index] = 1;
	atomic_thread_fence(memory_order_seq_cst);
	for (size_t i = from; i < WORDS; i++)
		fibers->stacks[index][i] = turn;
	for (size_t i = 0; i < from; i++)
		fibers->stacks[index][i] = turn;
	atomic_thread_fence(memory_order_seq_cst);
	fibers->runs[index] = 0;
}

static void child_takes_turns(struct child_shared *shared, const void *argument)
{
	struct fibers *fibers = (struct fibers *)(uintptr_t)argument;
	shared->is_ready = 1;
	for (uint64_t turn = 1;; turn++)
		run(fibers, (size_t)rand() % COUNT, turn);
}

/* Unmaps one page of this fiber when it is released. */
enum { UNMAPPED = 7 };

static void child_unmaps(struct child_shared *shared, const void *argument)
{
	struct fibers *fibers = (struct fibers *)(uintptr_t)argument;
	uint8_t *bytes = (uint8_t *)(uintptr_t)fibers->stacks[UNMAPPED];
	shared->is_ready = 1;
	while (!shared->release)
		usleep(1000);
	shared->failures = munmap(bytes + PAGE, PAGE) != 0;
	shared->started = 1;
	pause();
}

static void succeeds(struct rcore_error *err)
{
	ck_assert_msg(!err, "%s", err ? err->message : "");
}

static void keep(struct rcore_live *live, const struct fibers *fibers)
{
	uint64_t start = address_of(fibers);
	rcore_live_forget(live);
	rcore_live_keep(live, start, start + sizeof(*fibers));
}

static void park(struct rcore_live_parked *parked, const struct fibers *fibers, size_t index)
{
	uint64_t stack = address_of((const void *)fibers->stacks[index]);
	*parked = (struct rcore_live_parked){0};
	parked->head.start = address_of((const void *)&fibers->runs[index]);
	parked->head.end = parked->head.start + sizeof(uint64_t);
	parked->stacks[0].start = stack;
	parked->stacks[0].end = parked->stacks[1].start = stack + 2 * PAGE;
	parked->stacks[1].end = stack + PAGES * PAGE;
}

/* In the copy. */
static bool is_parked(struct rcore_live *live, const struct rcore_live_parked *parked)
{
	uint64_t runs = 1;
	return !rcore_read(rcore_live_memory(live), parked->head.start, &runs, sizeof(runs)) &&
	       !runs;
}

/* Copies all ahead, as rcore_ahead_read() does. */
static void copy(struct rcore_live *live, const struct fibers *fibers,
		 struct rcore_live_parked parked[COUNT])
{
	keep(live, fibers);
	succeeds(rcore_live_copy_ahead(live));
	for (size_t i = 0; i < COUNT; i++) {
		park(&parked[i], fibers, i);
		for (int k = 0; k < 2; k++)
			rcore_live_rest(live, parked[i].stacks[k].start,
					parked[i].stacks[k].end);
	}
	rcore_live_copy_consistent(live, parked, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		parked[i].is_consistent &= is_parked(live, &parked[i]);
}

static void check_words(struct rcore_live *live, const struct rcore_live_parked *parked)
{
	uint64_t words[WORDS];
	for (size_t i = 0; i < PAGES; i++)
		ck_assert_int_eq(rcore_read(rcore_live_memory(live),
					    parked->stacks[0].start + i * PAGE,
					    (uint8_t *)words + i * PAGE, PAGE),
				 RCORE_FAULT_NONE);
	ck_assert_int_eq(memcmp(words, words + 1, sizeof(words) - sizeof(*words)), 0);
}

START_TEST(copies_no_fiber_that_runs)
{
	static struct rcore_live_parked parked[COUNT];
	struct fibers *fibers = new_fibers();
	struct child child = child_start(child_takes_turns, fibers);
	struct rcore_live *live = live_opened(child.pid);
	size_t checked = 0;
	srand((unsigned)time(NULL));
	for (int i = 0; i < ROUNDS; i++) {
		copy(live, fibers, parked);
		live_begun(live, true);
		for (size_t k = 0; k < COUNT; k++) {
			if (!parked[k].is_consistent || !is_parked(live, &parked[k]))
				continue;
			checked++;
			check_words(live, &parked[k]);
		}
		live_ended(live);
	}
	ck_assert_uint_gt(checked, ROUNDS * COUNT / 2);
	rcore_live_close(live);
	child_stop(&child);
	munmap(fibers, sizeof(*fibers));
}
END_TEST

/* Structs and pages that cannot be read, and what is larger than any stack. */
START_TEST(copies_only_what_it_can)
{
	static struct rcore_live_parked parked[COUNT];
	struct fibers *fibers = new_fibers();
	struct child child = child_start(child_unmaps, fibers);
	struct rcore_live *live = live_opened(child.pid);
	copy(live, fibers, parked);
	for (size_t i = 0; i < COUNT; i++)
		ck_assert(parked[i].is_consistent);
	parked[1].head.start = parked[1].head.end = 8;
	parked[2].head.start = 8;
	parked[2].head.end = 16;
	parked[3].head.end = UINT64_MAX;
	parked[4].head.end = parked[4].head.start - 8;
	parked[5].stacks[1].end = UINT64_MAX;
	parked[6].stacks[1].end = 0;
	child.shared->release = 1;
	while (!child.shared->started)
		usleep(1000);
	ck_assert_int_eq(child.shared->failures, 0);
	for (size_t i = 0; i < COUNT; i++)
		parked[i].is_consistent = false;
	rcore_live_copy_consistent(live, parked, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		ck_assert_int_eq(parked[i].is_consistent, i < 2 || (i > 5 && i != UNMAPPED));
	live_begun(live, true);
	live_ended(live);
	rcore_live_close(live);
	child_stop(&child);
	munmap(fibers, sizeof(*fibers));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {copies_no_fiber_that_runs, copies_only_what_it_can};
	const struct rcore_test_suite suite = {
		.name = "live, consistent",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.timeout = 120,
	};
	return rcore_test_suite_run(&suite);
}
