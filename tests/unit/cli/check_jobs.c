/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "cli/jobs.h"
#include "suite.h"

enum { JOBS = 12 };

static struct {
	char *text;
	int status;
	bool is_done;
} ends[JOBS];
static size_t order[JOBS], done_count;

static void done(size_t index, char *text, int status, void *context)
{
	ck_assert(!ends[index].is_done);
	ends[index].text = text;
	ends[index].status = status;
	ends[index].is_done = true;
	order[done_count++] = index;
}

static int misbehave(size_t index, int fd, void *context)
{
	switch (index) {
	case 3:
		abort();
	case 5:
		dprintf(fd, "half");
		pause();
		return 0;
	case 7:
		return malloc(512 << 20) ? 0 : 9;
	case 9:
		close(fd);
		return 1;
	case 10:
		for (;;)
			dprintf(fd, "%01000d", 0);
	case 11:
		close(fd);
		pause();
		return 0;
	default:
		dprintf(fd, "job %zu", index);
		return (int)index;
	}
}

START_TEST(each_alone)
{
	const struct rcore_jobs jobs = {.count = JOBS,
					.at_once = 3,
					.seconds = 4,
					.megabytes = 256,
					.run = misbehave,
					.done = done};
	ck_assert_ptr_null(rcore_jobs_run(&jobs));
	ck_assert_uint_eq(done_count, JOBS);
	for (size_t i = 0; i < JOBS; i++) {
		char text[32];
		snprintf(text, sizeof(text), "job %zu", i);
		if (i == 3)
			ck_assert_int_eq(ends[i].status, -SIGABRT);
		else if (i == 5 || i == 11)
			ck_assert_int_eq(ends[i].status, -SIGXCPU);
		else if (i == 7 || i == 9)
			ck_assert_int_eq(ends[i].status, i == 7 ? 9 : 1);
		else if (i == 10)
			ck_assert_int_lt(ends[i].status, 0);
		else
			ck_assert_int_eq(ends[i].status, (int)i);
		if (i != 3 && i != 5 && i != 7 && i != 9 && i < 10)
			ck_assert_str_eq(ends[i].text, text);
		free(ends[i].text);
	}
}
END_TEST

static int give_index(size_t index, int fd, void *context)
{
	return (int)(index % 100);
}

static void count(size_t index, char *text, int status, void *context)
{
	ck_assert_int_eq(status, (int)(index % 100));
	(*(size_t *)context)++;
	free(text);
}

START_TEST(many)
{
	size_t counted = 0;
	const struct rcore_jobs jobs = {
		.count = 300, .run = give_index, .done = count, .context = &counted};
	ck_assert_ptr_null(rcore_jobs_run(&jobs));
	ck_assert_uint_eq(counted, 300);
}
END_TEST

START_TEST(none)
{
	const struct rcore_jobs jobs = {.run = give_index, .done = count};
	ck_assert_ptr_null(rcore_jobs_run(&jobs));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {each_alone, many, none};
	const struct rcore_test_suite suite = {
		.name = "jobs",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.timeout = 60,
	};
	return rcore_test_suite_run(&suite);
}
