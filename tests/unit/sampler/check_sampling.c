/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/count.h"
#include "sampler/sampling_private.h"
#include "suite.h"

/*
 * Tests that sampling ends although a BPF program writes records faster than
 * they can be added.
 */

/* Of the records that are read, which one sets `stop`; 0: none. */
static unsigned stop_after;
static unsigned given, calls;
static volatile sig_atomic_t stop;

/* Like libbpf, it ends only when the ring buffer is empty: never. */
static void consume(struct rcore_bpf *bpf,
		    bool (*each)(const struct rcore_bpf_record *record, size_t size,
				 void *context),
		    void *context)
{
	struct rcore_bpf_record record = {.kind = RCORE_BPF_RETURNED};
	calls++;
	do {
		record.time = rcore_clock_ns();
		stop |= ++given == stop_after;
	} while (each(&record, RCORE_BPF_HEAD, context));
}

static const struct rcore_bpf_engine engine = {.consume = consume};

static void sample(void)
{
	const struct rcore_options open = {0};
	int child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	struct rcore_sampling_options options = {
		.pid = child,
		.rate = 99,
		.open = &open,
		.stop = &stop,
		.engine = &engine,
		/* Only `engine` knows what it points to. */
		.bpf = (struct rcore_bpf *)&given,
	};
	struct rcore_profile *profile = rcore_profile_new();
	ck_assert_ptr_nonnull(profile);
	given = calls = 0;
	stop = 0;
	/* The child is not Ruby, which is an error unless it was stopped. */
	struct rcore_error *err = rcore_sampling_run(&options, profile);
	ck_assert_int_eq(!err, stop);
	rcore_error_free(err);
	rcore_profile_free(profile);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* The last call reads what was recorded until then. */
	ck_assert_uint_eq(calls, 2);
}

START_TEST(endless)
{
	stop_after = 0;
	sample();
}
END_TEST

START_TEST(stopped)
{
	stop_after = 10;
	sample();
	ck_assert_uint_le(given, 12);
}
END_TEST

/* A process that executes another program is found again, under its id. */
START_TEST(uses)
{
	const struct rcore_sampling_options options = {0};
	struct rcore_sampling sampling = {.options = &options};
	const uint32_t expected[] = {1, 1, 2};
	for (size_t i = 0; i < RCORE_COUNT(expected); i++) {
		/* Another process would have started at another time. */
		if (i == 2)
			sampling.uses.items[0].started--;
		ck_assert_ptr_null(rcore_member_add(&sampling, getpid(), 1));
		ck_assert_uint_eq(sampling.members.items[0].use, expected[i]);
		ck_assert_uint_ne(sampling.uses.items[0].started, 0);
		rcore_member_drop(&sampling, 0);
	}
	free(sampling.members.items);
	free(sampling.uses.items);
}
END_TEST

/* With BPF, the first tick begins before the first second. */
START_TEST(reports)
{
	const uint64_t second = 1000000000, now = 7 * second;
	struct rcore_sampling sampling = {.options = NULL};
	ck_assert(!rcore_sampling_is_report_due(&sampling, now));
	sampling.begun = sampling.last_second = now;
	ck_assert(!rcore_sampling_is_report_due(&sampling, now - 1));
	ck_assert(!rcore_sampling_is_report_due(&sampling, now + second - 1));
	ck_assert(rcore_sampling_is_report_due(&sampling, now + second));
}
END_TEST

/*
 * After the last tick, a round of fibers may take as long as a second, in which
 * no thread is sampled.
 */
START_TEST(end)
{
	const uint64_t second = 1000000000, now = rcore_clock_ns();
	const struct rcore_sampling_options options = {.rate = 99};
	struct rcore_sampling sampling = {.options = &options,
					  .cpu_begun = rcore_sampling_cpu() - 1,
					  .begun = now - 4 * second,
					  .ended = now - 2 * second,
					  .ticks = 100};
	struct rcore_sampling_summary summary;
	rcore_sampling_summary(&sampling, &summary);
	ck_assert_double_eq_tol(summary.seconds, 2, 1e-6);
	ck_assert_double_eq_tol(summary.achieved, 50, 1e-6);
	/* Of all the time in which rcore worked. */
	ck_assert_double_gt(summary.own_percent, 0);
	ck_assert_double_le(summary.own_percent, 26);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {endless, stopped, uses, reports, end};
	const struct rcore_test_suite suite = {
		.name = "sampling", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
