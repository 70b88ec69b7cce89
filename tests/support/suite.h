/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TESTS_SUITE_H
#define RCORE_TESTS_SUITE_H

#include <check.h>

/* A test that runs `count` times, with _i from 0. */
struct rcore_test_loop {
	const TTest *test;
	int count;
};

struct rcore_test_suite {
	const char *name;
	const TTest *const *tests;
	size_t count;
	int loops; /* how often each of `tests` runs, with _i from 0; 0: once */
	const struct rcore_test_loop *looped; /* further tests */
	size_t looped_count;
	double timeout;      /* seconds; 0: Check's default */
	void (*begin)(void); /* before each test; NULL: nothing */
	void (*end)(void);   /* after each test; NULL: nothing */
};

/*
 * Runs all tests of a suite; with LOOPS=N in the environment, each at most N
 * times, with drawn indexes. Returns the exit status of the program.
 */
int rcore_test_suite_run(const struct rcore_test_suite *suite);

#endif
