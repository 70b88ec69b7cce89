/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "suite.h"
#include "vm/problem.h"
#include "vm/vm.h"

static struct rcore_snapshot snapshot;

static void begin(void)
{
	snapshot = (struct rcore_snapshot){0};
}

static void end(void)
{
	rcore_arena_deinit(&snapshot.arena);
}

static void add(size_t count)
{
	for (size_t i = 0; i < count; i++)
		rcore_problem_add(&snapshot,
				  rcore_error_create(RCORE_ERROR_CORRUPT, "problem %zu", i));
}

static void add_cause(void)
{
	rcore_problem_add_cause(&snapshot, rcore_error_create(RCORE_ERROR_LIMIT, "the cause"));
}

/* The first problem is the one that a command prints if it prints only one. */
START_TEST(a_cause_comes_first)
{
	static const size_t counts[] = {
		0, 1, 5, RCORE_PROBLEM_LIMIT - 1, RCORE_PROBLEM_LIMIT, RCORE_PROBLEM_LIMIT + 7};
	char second[32];
	for (size_t i = 0; i < RCORE_COUNT(counts); i++) {
		begin();
		add(counts[i]);
		add_cause();
		ck_assert(snapshot.incomplete);
		ck_assert_str_eq(snapshot.problems[0], "the cause");
		for (size_t at = 1; at < snapshot.problem_count && at < RCORE_PROBLEM_LIMIT;
		     at++) {
			snprintf(second, sizeof(second), "problem %zu", at - 1);
			ck_assert_str_eq(snapshot.problems[at], second);
		}
		bool is_full = counts[i] >= RCORE_PROBLEM_LIMIT;
		ck_assert_uint_eq(snapshot.problem_count,
				  is_full ? RCORE_PROBLEM_LIMIT + 1 : counts[i] + 1);
		ck_assert(!is_full ||
			  strstr(snapshot.problems[RCORE_PROBLEM_LIMIT], "there are more"));
		end();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {a_cause_comes_first};
	const struct rcore_test_suite suite = {
		.name = "problem", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
