/* SPDX-License-Identifier: MIT */
/* Tests the reader of running processes on children of this program. */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count.h"
#include "live_child.h"
#include "target/live/live_memory.h"
#include "suite.h"

/* What the process has now. */
static long counted(const struct child *child)
{
	long value = -1;
	struct iovec local = {&value, sizeof(value)};
	struct iovec remote = {(void *)child->shared->copy, sizeof(value)};
	ck_assert_int_eq(process_vm_readv(child->pid, &local, 1, &remote, 1, 0), sizeof(value));
	return value;
}

static long read_count(struct rcore_live *live, const struct child *child)
{
	long value = -1;
	ck_assert_int_eq(rcore_read(rcore_live_memory(live), address_of(child->shared->copy),
				    &value, sizeof(value)),
			 RCORE_FAULT_NONE);
	return value;
}

START_TEST(describes_a_process)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	const struct rcore_process *process = rcore_live_process(live);
	uint64_t value;
	ck_assert_int_eq(process->pid, child.pid);
	ck_assert(rcore_process_auxv(process, AT_PHDR, &value));
	const struct rcore_mapping *mapping = rcore_process_mapping(process, value);
	ck_assert_ptr_nonnull(mapping);
	ck_assert_ptr_nonnull(mapping->file);
	ck_assert_str_eq(mapping->file, mapping->path);
	ck_assert_ptr_nonnull(process->executable);
	ck_assert_ptr_nonnull(process->arguments);
	ck_assert_int_eq(rcore_live_inner_pid(live), 0);
	for (size_t i = 1; i < process->mapping_count; i++)
		ck_assert_uint_ge(process->mappings[i].start, process->mappings[i - 1].end);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

START_TEST(reads_memory)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	child_check_memory(rcore_live_memory(live), &child);
	live_begun(live, _i);
	child_check_memory(rcore_live_memory(live), &child);
	live_ended(live);
	child_check_memory(rcore_live_memory(live), &child);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* As if seccomp forbade process_vm_readv(). */
START_TEST(reads_by_the_file)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live_maps maps = {0};
	struct rcore_arena arena = {0};
	struct rcore_live_memory memory;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d", child.pid);
	int folder = open(path, O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(rcore_live_maps_read(folder, child.pid, &arena, &maps), 0);
	rcore_live_memory_init(&memory, child.pid, folder, &maps);
	memory.file = openat(folder, "mem", O_RDONLY);
	ck_assert_int_ge(memory.file, 0);

	uint8_t bytes[4096], more[16];
	ck_assert_int_eq(rcore_read(&memory.memory, address_of(child.shared->pattern), bytes,
				    sizeof(bytes)),
			 RCORE_FAULT_NONE);
	ck_assert_uint_eq(bytes[100], (uint8_t)(100 * 7));
	ck_assert_int_eq(rcore_read(&memory.memory, address_of(child.shared->hole), bytes, 1),
			 RCORE_FAULT_UNMAPPED);
	struct rcore_live_range ranges[] = {
		{address_of(child.shared->pattern), 16, bytes, 0},
		{address_of(child.shared->hole) - 8, 16, more, 0},
		{address_of(child.shared->pattern) + 1, 16, more, 0},
	};
	rcore_live_read_batch(&memory, ranges, 3);
	ck_assert_uint_eq(ranges[0].read, 16);
	ck_assert_uint_eq(ranges[1].read, 8);
	ck_assert_uint_eq(ranges[2].read, 16);
	ck_assert_uint_eq(more[0], 7);
	ck_assert(!memory.is_gone);

	kill(child.pid, SIGKILL);
	wait_for_state(child.pid, 'Z');
	ck_assert_int_eq(
		rcore_read(&memory.memory, address_of(child.shared->pattern), bytes, 1),
		RCORE_FAULT_IO);
	ck_assert(memory.is_gone);
	rcore_live_memory_deinit(&memory);
	rcore_arena_deinit(&arena);
	close(folder);
	child_stop(&child);
}
END_TEST

/* A page that cannot be read does not affect its neighbours. */
START_TEST(fills_around_holes)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	uint64_t pattern = address_of(child.shared->pattern);
	uint8_t byte;
	rcore_live_keep(live, pattern, pattern + CHILD_PATTERN);
	live_begun(live, true);
	live_ended(live);
	struct rcore_memory *memory = rcore_live_memory(live);
	ck_assert_int_eq(rcore_read(memory, pattern + 5, &byte, 1), RCORE_FAULT_NONE);
	ck_assert_int_eq(rcore_read(memory, pattern + 4096, &byte, 1), RCORE_FAULT_NOT_COPIED);
	ck_assert_int_eq(rcore_read(memory, pattern + 8192, &byte, 1), RCORE_FAULT_NONE);
	ck_assert_uint_eq(byte, (uint8_t)(8192 * 7));
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* Like GC.compact does with pages of the heap. */
START_TEST(reads_protected_pages)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_memory *memory = rcore_live_memory(live);
	uint64_t taken = address_of(child.shared->taken);
	uint8_t bytes[8] = {0};
	ck_assert_int_eq(rcore_read(memory, taken + 90, bytes, 8), RCORE_FAULT_NONE);
	ck_assert_uint_eq(bytes[7], 7);
	rcore_live_keep(live, taken, taken + 4096);
	live_begun(live, true);
	live_ended(live);
	bytes[7] = 0;
	ck_assert_int_eq(rcore_read(memory, taken + 4088, bytes, 8), RCORE_FAULT_NONE);
	ck_assert_uint_eq(bytes[7], 7);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

START_TEST(stands_still)
{
	struct child child = child_start(child_threads, NULL);
	struct rcore_live *live = live_opened(child.pid);
	for (int i = 0; i < 3; i++) {
		rcore_live_forget(live);
		child_runs(&child);
		live_begun(live, true);
		long held = counted(&child);
		ck_assert_int_eq(read_count(live, &child), held);
		usleep(20000);
		ck_assert_int_eq(counted(&child), held);
		struct rcore_live_pause pause = live_ended(live);
		ck_assert_uint_eq(pause.thread_count, CHILD_THREADS + 1);
		ck_assert_uint_eq(pause.unstopped_count, 0);
		ck_assert(!pause.overdue);
		ck_assert_uint_gt(pause.nanoseconds, 0);
		child_runs(&child);
		ck_assert_int_gt(counted(&child), held);
		ck_assert_int_eq(read_count(live, &child), held);
	}
	rcore_live_close(live);
	child_runs(&child);
	child_stop(&child);
}
END_TEST

/*
 * Of a process that runs on, rcore reads only what does not change: files, and
 * code of a JIT.
 */
START_TEST(forgets_what_was_not_kept)
{
	uint8_t *code =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	code[1] = 0xc3;
	ck_assert_int_eq(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	uint64_t pattern = address_of(child.shared->pattern);
	uint8_t byte;
	live_begun(live, true);
	rcore_live_keep(live, pattern + 8192, pattern + 8193);
	live_ended(live);
	struct rcore_memory *memory = rcore_live_memory(live);
	ck_assert_int_eq(rcore_read(memory, pattern, &byte, 1), RCORE_FAULT_NOT_COPIED);
	uint64_t constant;
	ck_assert(rcore_process_auxv(rcore_live_process(live), AT_PHDR, &constant));
	ck_assert_int_eq(rcore_read(memory, constant, &byte, 1), RCORE_FAULT_NONE);
	ck_assert(rcore_process_auxv(rcore_live_process(live), AT_SYSINFO_EHDR, &constant));
	ck_assert_int_eq(rcore_read(memory, constant + 1, &byte, 1), RCORE_FAULT_NONE);
	ck_assert_uint_eq(byte, 'E');
	ck_assert_int_eq(rcore_read(memory, address_of(code) + 1, &byte, 1), RCORE_FAULT_NONE);
	ck_assert_uint_eq(byte, 0xc3);
	ck_assert_int_eq(rcore_read(memory, pattern + CHILD_PATTERN - 1, &byte, 1),
			 RCORE_FAULT_NONE);
	rcore_live_forget(live);
	ck_assert_int_eq(rcore_read(memory, pattern, &byte, 1), RCORE_FAULT_NONE);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

START_TEST(knows_each_thread)
{
	struct child child = child_start(child_threads, NULL);
	struct rcore_live *live = live_opened(child.pid);
	const struct rcore_process *process = rcore_live_process(live);
	live_begun(live, true);
	ck_assert_uint_eq(process->thread_count, CHILD_THREADS + 1);
	ck_assert_int_eq(process->threads[0].tid, child.pid);
	for (int i = 0; i < CHILD_THREADS; i++) {
		const struct rcore_native_thread *thread =
			live_thread(process, child.shared->tids[i]);
		ck_assert_ptr_nonnull(thread);
		ck_assert(thread->has_registers);
		ck_assert_uint_eq(thread->thread_pointer, (uint64_t)child.shared->threads[i]);
		/* glibc puts its struct at the upper end of the stack. */
		uint64_t sp = thread->registers[rcore_register_sp(process->machine)];
		uint64_t end = rcore_live_stack_end(live, sp, thread->thread_pointer);
		ck_assert_uint_lt(sp, thread->thread_pointer);
		ck_assert_uint_gt(end, thread->thread_pointer);
		ck_assert_uint_le(end - thread->thread_pointer, 8192);
		rcore_live_keep(live, sp, end);
	}
	live_ended(live);
	for (int i = 0; i < CHILD_THREADS; i++) {
		uint64_t word;
		const struct rcore_native_thread *thread =
			live_thread(process, child.shared->tids[i]);
		uint64_t sp = thread->registers[rcore_register_sp(process->machine)];
		ck_assert_int_eq(rcore_read_u64(rcore_live_memory(live), sp, &word),
				 RCORE_FAULT_NONE);
	}
	live_begun(live, false);
	ck_assert_uint_eq(process->thread_count, CHILD_THREADS + 1);
	for (size_t i = 0; i < process->thread_count; i++)
		ck_assert(!process->threads[i].has_registers);
	live_ended(live);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/*
 * Each signal arrives once, including those that come while the process is
 * stopped.
 */
START_TEST(keeps_signals)
{
	enum { SIGNALS = 30 };
	struct child child = child_start(child_threads, NULL);
	struct rcore_live *live = live_opened(child.pid);
	for (int i = 0; i < SIGNALS; i++) {
		sigqueue(child.pid, SIGRTMIN, (union sigval){0});
		live_begun(live, true);
		sigqueue(child.pid, SIGRTMIN, (union sigval){0});
		live_ended(live);
		sigqueue(child.pid, SIGRTMIN, (union sigval){0});
	}
	while (child.shared->signals < 3 * SIGNALS)
		usleep(1000);
	child_runs(&child);
	ck_assert_int_eq(child.shared->signals, 3 * SIGNALS);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

START_TEST(leaves_a_stopped_process_stopped)
{
	struct child child = child_start(child_threads, NULL);
	struct rcore_live *live = live_opened(child.pid);
	kill(child.pid, SIGSTOP);
	wait_for_state(child.pid, 'T');
	for (int i = 0; i < 3; i++) {
		live_begun(live, true);
		ck_assert_uint_eq(rcore_live_process(live)->thread_count, CHILD_THREADS + 1);
		struct rcore_live_pause pause = live_ended(live);
		ck_assert_uint_eq(pause.thread_count, CHILD_THREADS + 1);
		wait_for_state(child.pid, 'T');
	}
	long before = child.shared->counter;
	usleep(20000);
	ck_assert_int_eq(child.shared->counter, before);
	kill(child.pid, SIGCONT);
	child_runs(&child);

	/* If it is stopped by somebody else meanwhile, it stays stopped. */
	live_begun(live, true);
	kill(child.pid, SIGSTOP);
	live_ended(live);
	wait_for_state(child.pid, 'T');
	kill(child.pid, SIGCONT);
	child_runs(&child);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

START_TEST(lets_go_when_killed)
{
	static const int signals[] = {SIGKILL, SIGTERM, SIGABRT, SIGINT};
	struct child child = child_start(child_threads, NULL);
	if (_i) {
		kill(child.pid, SIGSTOP);
		wait_for_state(child.pid, 'T');
	}
	for (size_t i = 0; i < RCORE_COUNT(signals); i++) {
		pid_t tracer = child_start_tracer(&child);
		kill(tracer, signals[i]);
		waitpid(tracer, NULL, 0);
		if (_i)
			wait_for_state(child.pid, 'T');
		else
			child_runs(&child);
	}
	kill(child.pid, SIGCONT);
	child_runs(&child);
	child_stop(&child);
}
END_TEST

START_TEST(lets_go_of_itself)
{
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	uint8_t byte;
	live_begun(live, true);
	child_runs(&child); /* once the limit is reached */
	ck_assert_int_eq(rcore_read(rcore_live_memory(live), address_of(child.shared->pattern),
				    &byte, 1),
			 RCORE_FAULT_NOT_COPIED);
	struct rcore_live_pause pause = live_ended(live);
	ck_assert(pause.overdue);
	rcore_live_close(live);
	child_runs(&child);
	child_stop(&child);
}
END_TEST

/* What is read in time is not late; the rest is late, or is not read. */
START_TEST(keeps_to_a_limit)
{
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_memory *memory = rcore_live_memory(live);
	uint64_t pattern = address_of(child.shared->pattern), shared = address_of(child.shared);
	uint8_t byte;
	rcore_live_limit(live, 300);
	rcore_live_read_late(live, _i);
	live_begun(live, true);
	bool in_time = !rcore_read(memory, pattern, &byte, 1) &&
		       !rcore_live_is_late(live, pattern, pattern + 1);
	child_runs(&child); /* once the limit is reached */
	rcore_live_keep(live, shared, shared + 1);
	ck_assert_int_eq(rcore_read(memory, pattern + 8192, &byte, 1),
			 _i ? RCORE_FAULT_NONE : RCORE_FAULT_NOT_COPIED);
	struct rcore_live_pause pause = live_ended(live);
	ck_assert(pause.overdue);
	if (in_time)
		ck_assert_int_eq(rcore_read(memory, pattern, &byte, 1), RCORE_FAULT_NONE);
	ck_assert_int_eq(rcore_live_is_late(live, pattern, pattern + 1), !in_time && _i);
	ck_assert_int_eq(rcore_read(memory, shared, &byte, 1),
			 _i ? RCORE_FAULT_NONE : RCORE_FAULT_NOT_COPIED);
	ck_assert_int_eq(rcore_live_is_late(live, shared, shared + 1), _i);
	ck_assert_int_eq(rcore_live_is_late(live, pattern + 8192, pattern + 8193), _i);
	rcore_live_close(live);
	child_runs(&child);
	child_stop(&child);
}
END_TEST

START_TEST(lets_go_of_a_thread_in_the_kernel)
{
	struct child child = child_start(child_vforks, NULL);
	struct rcore_live *live = live_opened(child.pid);
	live_begun(live, true);
	const struct rcore_native_thread *thread =
		live_thread(rcore_live_process(live), child.shared->tids[0]);
	ck_assert_ptr_nonnull(thread);
	ck_assert(!thread->has_registers);
	struct rcore_live_pause pause = live_ended(live);
	ck_assert_uint_eq(pause.thread_count, 1);
	ck_assert_uint_eq(pause.unstopped_count, 1);
	child_runs(&child);
	child.shared->release = 1;
	while (child.shared->release != 2)
		usleep(1000);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

START_TEST(stops_a_process_that_starts_threads)
{
	struct child child = child_start(child_churns, NULL);
	struct rcore_live *live = live_opened(child.pid);
	for (int i = 0; i < 50; i++) {
		long before = child.shared->counter;
		live_begun(live, true);
		long held = child.shared->counter;
		usleep(500);
		ck_assert_int_eq(child.shared->counter, held);
		live_ended(live);
		ck_assert_int_ge(held, before);
		child_runs(&child);
	}
	ck_assert_int_eq(child.shared->failures, 0);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/*
 * exec waits for all threads to end, so stopping the threads must not wait for
 * exec.
 */
START_TEST(survives_exec)
{
	int pipe_ends[2];
	char number[16], byte;
	ck_assert_int_eq(pipe(pipe_ends), 0);
	pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(number, sizeof(number), "%d", pipe_ends[1]);
		execl("/proc/self/exe", "check_live", "exec", number, (char *)NULL);
		_exit(1);
	}
	for (int i = 0; i < 100; i++) {
		struct rcore_live *live;
		ck_assert_int_eq(read(pipe_ends[0], &byte, 1), 1);
		struct rcore_error *err = rcore_live_open(pid, &live);
		if (!err) {
			err = rcore_live_begin(live, true);
			if (!err)
				live_ended(live);
			rcore_live_close(live);
		}
		rcore_error_free(err);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}
END_TEST

static void *sleep_on(void *argument)
{
	for (;;)
		pause();
	return NULL;
}

/*
 * This program as the target of survives_exec: starts threads, then executes
 * itself again.
 */
static int run_exec(char **argv)
{
	pthread_t thread;
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, sleep_on, NULL);
	if (write(atoi(argv[2]), "", 1) == 1)
		execv("/proc/self/exe", argv);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "exec") == 0)
		return run_exec(argv);
	const TTest *const memory[] = {describes_a_process, reads_by_the_file,
				       fills_around_holes, reads_protected_pages,
				       forgets_what_was_not_kept};
	const struct rcore_test_loop memory_loops[] = {{reads_memory, 2}};
	const TTest *const stop[] = {stands_still,
				     knows_each_thread,
				     keeps_signals,
				     leaves_a_stopped_process_stopped,
				     lets_go_of_itself,
				     lets_go_of_a_thread_in_the_kernel,
				     stops_a_process_that_starts_threads,
				     survives_exec};
	const struct rcore_test_loop stop_loops[] = {{lets_go_when_killed, 2},
						     {keeps_to_a_limit, 2}};
	const struct rcore_test_suite suites[] = {
		{
			.name = "live, memory",
			.tests = memory,
			.count = RCORE_COUNT(memory),
			.looped = memory_loops,
			.looped_count = RCORE_COUNT(memory_loops),
		},
		{
			.name = "live, stop",
			.tests = stop,
			.count = RCORE_COUNT(stop),
			.looped = stop_loops,
			.looped_count = RCORE_COUNT(stop_loops),
			.timeout = 120,
		},
	};
	int status = EXIT_SUCCESS;
	for (size_t i = 0; i < RCORE_COUNT(suites); i++)
		status |= rcore_test_suite_run(&suites[i]);
	return status;
}
