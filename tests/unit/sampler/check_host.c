/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "sampler/host.h"
#include "suite.h"

/*
 * When Ruby processes are found, and how often others are looked at.
 */

enum { PIDS = 8 };

static const uint64_t ms = 1000000;

/* Of each process: its program, whether that is Ruby, how often it was asked. */
static uint64_t programs[PIDS];
static bool is_ruby[PIDS];
static unsigned asked[PIDS], looked[PIDS];

static struct rcore_host *host;
static uint64_t now;

static uint64_t program(int pid)
{
	asked[pid]++;
	return programs[pid];
}

static bool runs_ruby(int pid)
{
	looked[pid]++;
	return is_ruby[pid];
}

static const struct rcore_host_probe probe = {program, runs_ruby};

static void begin(void)
{
	memset(programs, 0, sizeof(programs));
	memset(is_ruby, 0, sizeof(is_ruby));
	memset(asked, 0, sizeof(asked));
	memset(looked, 0, sizeof(looked));
	now = 1000 * ms;
	host = rcore_host_new(&probe);
	ck_assert_ptr_nonnull(host);
}

static void end(void)
{
	rcore_host_free(host);
	host = NULL;
}

/* Returns a bit for each process that was found. */
static unsigned look(const int *pids, size_t count)
{
	const int *found;
	size_t found_count;
	unsigned bits = 0;
	ck_assert_ptr_null(rcore_host_look(host, pids, count, now, &found, &found_count));
	for (size_t i = 0; i < found_count; i++)
		bits |= 1u << found[i];
	now += 100 * ms;
	return bits;
}

START_TEST(processes_are_found_when_they_start)
{
	const int first[] = {1, 2, 5}, more[] = {1, 2, 3, 5, 7}, fewer[] = {2, 7};
	begin();
	is_ruby[2] = is_ruby[3] = is_ruby[7] = true;
	ck_assert_uint_eq(look(first, 3), 1u << 2);
	ck_assert_uint_eq(look(more, 5) & ~(1u << 2), 1u << 3 | 1u << 7);
	look(fewer, 2);
	/* 3 has ended; this is another process with the same id. */
	ck_assert_uint_ne(look(more, 5) & 1u << 3, 0);
}
END_TEST

START_TEST(a_program_that_changes_is_looked_at_at_once)
{
	const int pids[] = {4};
	begin();
	programs[4] = 1;
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(look(pids, 1), 0);
	programs[4] = 2;
	is_ruby[4] = true;
	/* A process that is not young is asked once a second. */
	unsigned found = 0;
	for (int i = 0; i < 10; i++)
		found |= look(pids, 1);
	ck_assert_uint_eq(found, 1u << 4);
	/* A young one each time: a shell that executes Ruby. */
	end();
	begin();
	programs[4] = 1;
	look(pids, 1);
	look(pids, 1);
	programs[4] = 2;
	is_ruby[4] = true;
	ck_assert_uint_eq(look(pids, 1), 1u << 4);
}
END_TEST

START_TEST(others_are_looked_at_seldom)
{
	const int pids[] = {6};
	begin();
	programs[6] = 1;
	for (int i = 0; i < 6000; i++)
		look(pids, 1);
	/* In 10 minutes. */
	ck_assert_uint_le(asked[6], 620);
	ck_assert_uint_le(looked[6], 70);
	/* libruby is found even if the program loads it late. */
	is_ruby[6] = true;
	unsigned found = 0;
	for (int i = 0; i < 120; i++)
		found |= look(pids, 1);
	ck_assert_uint_eq(found, 1u << 6);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {processes_are_found_when_they_start,
				      a_program_that_changes_is_looked_at_at_once,
				      others_are_looked_at_seldom};
	const struct rcore_test_suite suite = {
		.name = "host", .tests = tests, .count = RCORE_COUNT(tests), .end = end};
	return rcore_test_suite_run(&suite);
}
