/* SPDX-License-Identifier: MIT */
/* Tests copies that are made before a process is stopped, on children of this program. */
#include <elf.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "live_child.h"
#include "suite.h"

/* Notes the pattern, which includes a page that the child may not read, and the counter. */
static void keep_all(struct rcore_live *live, const struct child *child)
{
	rcore_live_forget(live);
	rcore_live_keep(live, address_of(child->shared->pattern),
			address_of(child->shared->pattern) + CHILD_PATTERN);
	rcore_live_keep(live, address_of(child->shared->copy),
			address_of(child->shared->copy + 1));
}

static long count_in(struct rcore_memory *memory, const struct child *child)
{
	long value = -1;
	ck_assert_int_eq(
		rcore_read(memory, address_of(child->shared->copy), &value, sizeof(value)),
		RCORE_FAULT_NONE);
	return value;
}

/* Some kernels do not count how often a thread gets a processor. */
static bool kernel_counts(void)
{
	unsigned long long time, waited, times = 0;
	FILE *file = fopen("/proc/self/schedstat", "r");
	bool is_read = file && fscanf(file, "%llu %llu %llu", &time, &waited, &times) == 3;
	if (file)
		fclose(file);
	if (!is_read || !times)
		fprintf(stderr, "check_live_ahead: no /proc/PID/schedstat: not tested\n");
	return is_read && times;
}

/*
 * A thread that the stop wakes may lose the processor on its way, and then counts as one that has
 * run. This is rare.
 */
START_TEST(knows_a_quiet_process)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_live_pause pause, none;
	uint64_t pattern = address_of(child.shared->pattern);
	uint8_t byte;
	int quiet = 0;
	for (int i = 0; i < 50; i++) {
		wait_for_state(child.pid, 'S');
		keep_all(live, &child);
		live_copied_ahead(live);
		live_begun(live, true);
		quiet += rcore_live_is_quiet(live);
		rcore_live_release(live, &pause);
		ck_assert_uint_eq(pause.thread_count, 1);
		ck_assert_uint_gt(pause.nanoseconds, 0);
		ck_assert_int_eq(rcore_read(rcore_live_memory(live), pattern + 5, &byte, 1),
				 RCORE_FAULT_NONE);
		ck_assert_uint_eq(byte, 5 * 7);
		ck_assert(!rcore_live_has_missed(live));
		rcore_live_end(live, &none);
		ck_assert_uint_eq(none.nanoseconds, 0);
	}
	ck_assert(quiet > 25 || !kernel_counts());
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* The thread sleeps in the same call at the copy and at the stop, but has run a signal handler. */
START_TEST(notices_a_thread_that_ran_and_sleeps_again)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	for (int i = 1; i <= 20; i++) {
		wait_for_state(child.pid, 'S');
		keep_all(live, &child);
		live_copied_ahead(live);
		kill(child.pid, SIGRTMIN);
		while (child.shared->signals < i)
			usleep(100);
		wait_for_state(child.pid, 'S');
		live_begun(live, true);
		ck_assert(!rcore_live_is_quiet(live));
		live_ended(live);
	}
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* The thread sleeps at the copy. At the stop it is in the same call, but has run since then. */
START_TEST(notices_a_thread_that_woke)
{
	for (int i = 0; i < 10; i++) {
		int wake[2];
		struct rcore_live_pause pause;
		ck_assert_int_eq(pipe(wake), 0);
		struct child child = child_start(child_reads, wake);
		struct rcore_live *live = live_opened(child.pid);
		wait_for_state(child.pid, 'S');
		keep_all(live, &child);
		live_copied_ahead(live);
		ck_assert_int_eq(count_in(rcore_live_bare_memory(live), &child), 0);
		ck_assert_int_eq(write(wake[1], "x", 1), 1);
		child_runs(&child);
		live_begun(live, true);
		ck_assert(!rcore_live_is_quiet(live));
		long held = count_in(rcore_live_bare_memory(live), &child);
		rcore_live_release(live, &pause);
		ck_assert_int_eq(count_in(rcore_live_memory(live), &child), held);
		ck_assert_int_gt(held, 0);
		rcore_live_close(live);
		child_stop(&child);
		close(wake[0]);
		close(wake[1]);
	}
}
END_TEST

/* Reads after the release return the memory of the stop, not that of the first copy or of now. */
START_TEST(copies_again_if_a_thread_has_run)
{
	struct child child = child_start(child_threads, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_memory *memory = rcore_live_memory(live);
	struct rcore_live_pause pause, none;
	for (int i = 0; i < 20; i++) {
		keep_all(live, &child);
		live_copied_ahead(live);
		long ahead = count_in(memory, &child);
		child_runs(&child);
		live_begun(live, true);
		ck_assert(!rcore_live_is_quiet(live));
		long held = count_in(rcore_live_bare_memory(live), &child);
		ck_assert_int_gt(held, ahead);
		rcore_live_release(live, &pause);
		ck_assert_uint_eq(pause.thread_count, CHILD_THREADS + 1);
		child_runs(&child);
		ck_assert_int_eq(count_in(memory, &child), held);
		ck_assert(!rcore_live_has_missed(live));
		rcore_live_end(live, &none);
		ck_assert_int_eq(count_in(memory, &child), held);
	}
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* Memory that the copy lacks is read from the running process; the next round copies it. */
START_TEST(says_what_it_missed)
{
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_memory *memory = rcore_live_memory(live);
	struct rcore_live_pause pause;
	uint64_t constant;
	uint8_t byte;
	live_copied_ahead(live);
	live_begun(live, true);
	rcore_live_release(live, &pause);
	ck_assert(rcore_process_auxv(rcore_live_process(live), AT_PHDR, &constant));
	ck_assert_int_eq(rcore_read(memory, constant, &byte, 1), RCORE_FAULT_NONE);
	ck_assert(!rcore_live_has_missed(live));
	child_runs(&child);
	count_in(memory, &child);
	ck_assert(rcore_live_has_missed(live));
	rcore_live_end(live, &pause);
	ck_assert(rcore_live_has_missed(live));

	live_begun(live, true);
	long held = count_in(rcore_live_bare_memory(live), &child);
	live_ended(live);
	child_runs(&child);
	ck_assert_int_eq(count_in(memory, &child), held);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* Memory that is noted after the release, and read at the end, counts as missed as well. */
START_TEST(misses_what_is_noted_too_late)
{
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_live_pause pause;
	live_copied_ahead(live);
	live_begun(live, true);
	rcore_live_release(live, &pause);
	ck_assert(!rcore_live_has_missed(live));
	rcore_live_keep(live, address_of(child.shared->copy),
			address_of(child.shared->copy + 1));
	rcore_live_end(live, &pause);
	ck_assert(rcore_live_has_missed(live));
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

START_TEST(digests_what_it_copied)
{
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	uint64_t pattern = address_of(child.shared->pattern);
	uint64_t count = address_of(child.shared->copy);
	keep_all(live, &child);
	live_copied_ahead(live);
	ck_assert(rcore_live_is_same(live, pattern, pattern + 4096));
	ck_assert(!rcore_live_is_same(live, pattern + 4096, pattern + 8192));
	ck_assert(rcore_live_is_same(live, count, count + sizeof(long)));
	ck_assert(!rcore_live_count_changes(live));
	rcore_live_note_awake(live);
	ck_assert(rcore_live_count_changes(live));
	struct rcore_live_span unread = rcore_live_span(live, pattern + 4096, pattern + 8192);
	struct rcore_live_span first = rcore_live_span(live, pattern, pattern + 1);
	struct rcore_live_span last =
		rcore_live_span(live, pattern + 8192, pattern + CHILD_PATTERN);
	struct rcore_live_span all = rcore_live_span(live, pattern, pattern + CHILD_PATTERN);
	struct rcore_live_span counts = rcore_live_span(live, count, count + sizeof(long));
	struct rcore_live_span none = rcore_live_span(live, 4096, 8192);
	ck_assert(!rcore_live_is_span_same(live, unread));
	ck_assert(rcore_live_is_span_same(live, counts));
	uint64_t same = rcore_live_digest(live, pattern, pattern + CHILD_PATTERN);
	uint64_t other = rcore_live_digest(live, count, count + sizeof(long));
	ck_assert_uint_ne(same, rcore_live_digest(live, pattern + 1, pattern + CHILD_PATTERN));
	ck_assert_uint_eq(0, rcore_live_digest(live, pattern + 4096, pattern + 8192));
	child_runs(&child);
	live_begun(live, true);
	ck_assert_uint_eq(same, rcore_live_digest(live, pattern, pattern + CHILD_PATTERN));
	ck_assert_uint_ne(other, rcore_live_digest(live, count, count + sizeof(long)));
	ck_assert(rcore_live_is_same(live, pattern, pattern + 1));
	ck_assert(rcore_live_is_same(live, pattern + 8192, pattern + CHILD_PATTERN));
	ck_assert(!rcore_live_is_same(live, pattern, pattern + CHILD_PATTERN));
	ck_assert(!rcore_live_is_same(live, count, count + sizeof(long)));
	ck_assert(rcore_live_count_changes(live));
	ck_assert(rcore_live_is_span_same(live, first));
	ck_assert(rcore_live_is_span_same(live, last));
	ck_assert(rcore_live_is_span_same(live, none));
	ck_assert(!rcore_live_is_span_same(live, unread));
	ck_assert(!rcore_live_is_span_same(live, all));
	ck_assert(!rcore_live_is_span_same(live, counts));
	live_ended(live);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/*
 * A page that rests has the bytes of the copy ahead until it is woken. A part
 * of a page never rests.
 */
START_TEST(lets_pages_rest)
{
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_memory *memory = rcore_live_memory(live);
	uint64_t count = address_of(child.shared->copy), page = count & ~UINT64_C(4095);
	enum { RESTS, IN_PART, WAKES };
	keep_all(live, &child);
	live_copied_ahead(live);
	long ahead = count_in(memory, &child);
	ck_assert(rcore_live_is_same(live, page, page + 4096));
	size_t saved = rcore_live_rest(live, page, page + 4096 - (_i == IN_PART));
	ck_assert_uint_eq(saved, _i == IN_PART ? 0 : 4096);
	child_runs(&child);
	live_begun(live, true);
	ck_assert(!rcore_live_has_thread_slept(live, child.pid));
	if (_i == WAKES) {
		rcore_live_wake(live, count, count + 1);
		rcore_live_fetch(live);
	}
	long held = count_in(memory, &child);
	ck_assert(_i == RESTS ? held == ahead : held > ahead);
	ck_assert_int_eq(rcore_live_is_same(live, page, page + 4096), _i == RESTS);
	ck_assert_uint_gt(rcore_live_copy_age(live), 0);
	live_ended(live);

	/* Nothing rests in the next round. */
	keep_all(live, &child);
	live_copied_ahead(live);
	child_runs(&child);
	live_begun(live, true);
	ck_assert_int_gt(count_in(memory, &child), held);
	live_ended(live);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* Each stop raises the priority, if the system allows that, and restores it. */
START_TEST(restores_the_priority)
{
	enum { STOPS = 2, MOST_STOPS = 1000, LONG_US = 300000 };
	struct child child = child_start(child_threads, NULL);
	struct rcore_live *live = live_opened(child.pid);
	const struct sched_param lowest = {.sched_priority = 1}, none = {0};
	const int before = sched_getscheduler(0);
	bool may_raise = before == SCHED_OTHER && !sched_setscheduler(0, SCHED_FIFO, &lowest) &&
			 !sched_setscheduler(0, before, &none);
	int raised = 0;
	/* If the threads take long to stop, the time is over by then. */
	for (int i = 0; i < STOPS || (may_raise && !raised && i < MOST_STOPS); i++) {
		live_begun(live, true);
		raised += (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO;
		if (i < STOPS) {
			usleep(LONG_US);
			ck_assert_int_eq(sched_getscheduler(0), before);
		}
		live_ended(live);
		ck_assert_int_eq(sched_getscheduler(0), before);
	}
	ck_assert_int_eq(raised > 0, may_raise);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* A hostile target may call anything a stack, many times. */
START_TEST(bounds_what_rests)
{
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_memory *memory = rcore_live_memory(live);
	uint64_t pattern = address_of(child.shared->pattern);
	uint64_t page = address_of(child.shared->copy) & ~UINT64_C(4095);
	keep_all(live, &child);
	live_copied_ahead(live);
	uint64_t digest = rcore_live_digest(live, pattern, pattern + CHILD_PATTERN);
	ck_assert_uint_eq(rcore_live_rest(live, 0, UINT64_MAX), 0);
	ck_assert_uint_eq(rcore_live_rest(live, UINT64_MAX, 0), 0);
	ck_assert_uint_eq(rcore_live_rest(live, UINT64_MAX, UINT64_MAX), 0);
	ck_assert_uint_eq(rcore_live_digest(live, pattern, pattern + CHILD_PATTERN), digest);
	ck_assert(rcore_live_is_same(live, pattern, pattern + 4096));

	/*
	 * If ranges overlap again and again, nothing counts as unchanged, and
	 * nothing rests.
	 */
	ck_assert_uint_eq(rcore_live_rest(live, page, page + 4096), 4096);
	long ahead = count_in(memory, &child);
	for (int i = 0; i < 1000; i++)
		rcore_live_digest(live, pattern, pattern + CHILD_PATTERN);
	ck_assert_uint_ne(rcore_live_digest(live, pattern, pattern + CHILD_PATTERN),
			  rcore_live_digest(live, pattern, pattern + CHILD_PATTERN));
	ck_assert_uint_eq(rcore_live_rest(live, pattern, pattern + CHILD_PATTERN), 0);
	ck_assert(!rcore_live_is_same(live, pattern, pattern + 4096));
	child_runs(&child);
	live_begun(live, true);
	ck_assert(rcore_live_wake(live, pattern, pattern + 1));
	rcore_live_fetch(live);
	ck_assert_int_gt(count_in(memory, &child), ahead);
	live_ended(live);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* One thread sleeps while another one runs. */
START_TEST(knows_each_thread_that_slept)
{
	struct child child = child_start(child_threads, NULL);
	struct rcore_live *live = live_opened(child.pid);
	int ran = 0, slept = 0;
	for (int i = 0; i < 20; i++) {
		keep_all(live, &child);
		live_copied_ahead(live);
		child_runs(&child);
		live_begun(live, true);
		slept += rcore_live_has_thread_slept(live, child.pid);
		for (int j = 0; j < CHILD_THREADS; j++)
			ran += !rcore_live_has_thread_slept(live, child.shared->tids[j]);
		ck_assert(!rcore_live_has_thread_slept(live, 1));
		struct rcore_live_pause pause = live_ended(live);
		ck_assert(!rcore_live_has_thread_slept(live, child.pid));
		ck_assert_uint_gt(pause.thread_count, 0);
	}
	ck_assert_int_gt(ran, 0);
	ck_assert(slept || !kernel_counts());
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

struct stacks {
	uint64_t sp[CHILD_THREADS + 1];
	size_t count;
};

static void note_stack(void *context, uint64_t sp)
{
	struct stacks *stacks = context;
	ck_assert_uint_lt(stacks->count, RCORE_COUNT(stacks->sp));
	stacks->sp[stacks->count++] = sp;
}

static bool has_stack(const struct stacks *stacks, uint64_t sp)
{
	for (size_t i = 0; i < stacks->count; i++)
		if (stacks->sp[i] == sp)
			return true;
	return false;
}

/* Those of threads that have slept until the stop are their stack pointers there. */
START_TEST(finds_the_stacks_of_sleeping_threads)
{
	struct child child = child_start(child_threads, NULL);
	struct rcore_live *live = live_opened(child.pid);
	const struct rcore_process *process = rcore_live_process(live);
	int found = 0;
	for (int i = 0; i < 20; i++) {
		struct stacks stacks = {.count = 0};
		keep_all(live, &child);
		live_copied_ahead(live);
		rcore_live_visit_sleeping(live, note_stack, &stacks);
		live_begun(live, true);
		for (size_t k = 0; k < process->thread_count; k++) {
			const struct rcore_native_thread *thread = &process->threads[k];
			if (!rcore_live_has_thread_slept(live, thread->tid))
				continue;
			ck_assert(has_stack(
				&stacks,
				thread->registers[rcore_register_sp(process->machine)]));
			found++;
		}
		live_ended(live);
	}
	ck_assert(found || !kernel_counts());
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {knows_a_quiet_process,
				      notices_a_thread_that_ran_and_sleeps_again,
				      notices_a_thread_that_woke,
				      copies_again_if_a_thread_has_run,
				      says_what_it_missed,
				      misses_what_is_noted_too_late,
				      digests_what_it_copied,
				      restores_the_priority,
				      bounds_what_rests,
				      knows_each_thread_that_slept,
				      finds_the_stacks_of_sleeping_threads};
	const struct rcore_test_loop loops[] = {{lets_pages_rest, 3}};
	const struct rcore_test_suite suite = {
		.name = "live, copied ahead",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.timeout = 120,
	};
	return rcore_test_suite_run(&suite);
}
