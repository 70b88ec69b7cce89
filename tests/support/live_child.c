/* SPDX-License-Identifier: MIT */
#include "live_child.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct child_shared *shared_of_handler;

static void nap(void)
{
	usleep(1000);
}

struct child child_start(child_main *program, const void *argument)
{
	struct child child;
	child.shared = mmap(NULL, sizeof(*child.shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(child.shared, MAP_FAILED);
	child.pid = fork();
	if (!child.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		program(child.shared, argument);
		_exit(0);
	}
	ck_assert_int_gt(child.pid, 0);
	while (!child.shared->is_ready) {
		ck_assert_msg(waitpid(child.pid, NULL, WNOHANG) == 0, "the child ended");
		nap();
	}
	return child;
}

void child_stop(struct child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	munmap(child->shared, sizeof(*child->shared));
}

void child_runs(const struct child *child)
{
	long before = child->shared->counter;
	while (child->shared->counter < before + 2)
		nap();
}

char process_state(pid_t pid)
{
	char path[64], line[256], state = '?';
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "State: %c", &state) == 1)
			break;
	if (file)
		fclose(file);
	return state;
}

void wait_for_state(pid_t pid, char state)
{
	while (process_state(pid) != state)
		nap();
}

static void on_signal(int signo)
{
	shared_of_handler->signals++;
}

static void set_up(struct child_shared *shared)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	shared_of_handler = shared;
	sigaction(SIGRTMIN, &action, NULL);
	shared->copy = calloc(1, sizeof(long));
	shared->pattern = mmap(NULL, CHILD_PATTERN + 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < CHILD_PATTERN; i++)
		if (i / 4096 != 1)
			shared->pattern[i] = (uint8_t)(i * 7);
	mprotect(shared->pattern + 4096, 4096, PROT_NONE);
	shared->taken =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(shared->taken, 7, 4096);
	mprotect(shared->taken, 4096, PROT_NONE);
	shared->hole = shared->pattern + CHILD_PATTERN;
	munmap(shared->hole, 4096);
	shared->inner_pid = (int)syscall(SYS_getpid);
}

static void count(struct child_shared *shared)
{
	for (;;) {
		++*shared->copy;
		shared->counter++;
		if (shared->counter % 64 == 0)
			usleep(200);
	}
}

void child_counts(struct child_shared *shared, const void *argument)
{
	set_up(shared);
	shared->is_ready = 1;
	count(shared);
}

void child_sleeps(struct child_shared *shared, const void *argument)
{
	set_up(shared);
	shared->is_ready = 1;
	for (;;)
		pause();
}

void child_reads(struct child_shared *shared, const void *argument)
{
	const int *wake = argument;
	char *buffer = malloc(CHILD_READ);
	int file = wake[0], zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	set_up(shared);
	shared->is_ready = 1;
	/* One place in the code, whatever it reads. */
	for (; buffer; file = zero) {
		syscall(SYS_read, file, buffer, CHILD_READ);
		++*shared->copy;
		shared->counter++;
	}
}

struct thread_argument {
	struct child_shared *shared;
	int index;
};

static void *run_thread(void *pointer)
{
	struct thread_argument *argument = pointer;
	struct child_shared *shared = argument->shared;
	shared->threads[argument->index] = pthread_self();
	shared->tids[argument->index] = (int)syscall(SYS_gettid);
	shared->started++;
	if (argument->index == 0)
		count(shared);
	for (;;)
		pause();
	return NULL;
}

void child_threads(struct child_shared *shared, const void *argument)
{
	static struct thread_argument arguments[CHILD_THREADS];
	set_up(shared);
	for (int i = 0; i < CHILD_THREADS; i++) {
		pthread_t thread;
		arguments[i] = (struct thread_argument){shared, i};
		pthread_create(&thread, NULL, run_thread, &arguments[i]);
	}
	while (shared->started < CHILD_THREADS)
		nap();
	shared->is_ready = 1;
	for (;;)
		pause();
}

static void *end_at_once(void *pointer)
{
	struct child_shared *shared = pointer;
	shared->counter++;
	return NULL;
}

void child_churns(struct child_shared *shared, const void *argument)
{
	set_up(shared);
	shared->is_ready = 1;
	for (;;) {
		pthread_t threads[4];
		for (int i = 0; i < 4; i++)
			if (pthread_create(&threads[i], NULL, end_at_once, shared))
				shared->failures++;
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
}

static void *wait_in_vfork(void *pointer)
{
	struct child_shared *shared = pointer;
	shared->tids[0] = (int)syscall(SYS_gettid);
	pid_t pid = vfork();
	if (!pid) {
		while (!shared->release)
			usleep(1000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	shared->release = 2;
	return NULL;
}

void child_vforks(struct child_shared *shared, const void *argument)
{
	pthread_t thread;
	set_up(shared);
	pthread_create(&thread, NULL, wait_in_vfork, shared);
	while (!shared->tids[0] || process_state(shared->tids[0]) != 'D')
		usleep(1000);
	shared->is_ready = 1;
	count(shared);
}

void child_maps(struct child_shared *shared, const void *argument)
{
	const char *path = argument;
	set_up(shared);
	int file = open(path, O_RDONLY);
	shared->mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
	close(file);
	unlink(path);
	shared->is_ready = 1;
	for (;;)
		pause();
}

static void *outlive(void *pointer)
{
	struct child_shared *shared = pointer;
	wait_for_state(getpid(), 'Z');
	shared->tids[0] = (int)syscall(SYS_gettid);
	shared->is_ready = 1;
	for (;;)
		pause();
	return NULL;
}

void child_loses_its_main_thread(struct child_shared *shared, const void *argument)
{
	pthread_t thread;
	set_up(shared);
	pthread_create(&thread, NULL, outlive, shared);
	pthread_exit(NULL);
}

static void *end_second(void *argument)
{
	struct child_shared *shared = argument;
	while (shared->release < 2)
		usleep(100);
	return NULL;
}

static void *stay(void *argument)
{
	struct child_shared *shared = argument;
	shared->tids[0] = (int)syscall(SYS_gettid);
	shared->is_ready = 1;
	for (;;)
		pause();
	return NULL;
}

void child_loses_threads(struct child_shared *shared, const void *argument)
{
	pthread_t threads[2];
	set_up(shared);
	pthread_create(&threads[0], NULL, end_second, shared);
	pthread_create(&threads[1], NULL, stay, shared);
	while (!shared->release)
		usleep(100);
	pthread_exit(NULL);
}

uint64_t address_of(const volatile void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

struct rcore_live *live_opened(pid_t pid)
{
	struct rcore_live *live = NULL;
	struct rcore_error *err = rcore_live_open(pid, &live);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	return live;
}

void live_copied_ahead(struct rcore_live *live)
{
	struct rcore_error *err = rcore_live_copy_ahead(live);
	ck_assert_msg(!err, "%s", err ? err->message : "");
}

void live_begun(struct rcore_live *live, bool stop)
{
	struct rcore_error *err = rcore_live_begin(live, stop);
	ck_assert_msg(!err, "%s", err ? err->message : "");
}

struct rcore_live_pause live_ended(struct rcore_live *live)
{
	struct rcore_live_pause pause;
	rcore_live_end(live, &pause);
	return pause;
}

void says(struct rcore_error *err, enum rcore_error_code code, const char *words)
{
	ck_assert_ptr_nonnull(err);
	ck_assert_msg(err->code == code, "code %d: %s", err->code, err->message);
	ck_assert_msg(strstr(err->message, words) != NULL, "%s", err->message);
	ck_assert_ptr_null(strchr(err->message, '\n'));
	rcore_error_free(err);
}

const struct rcore_native_thread *live_thread(const struct rcore_process *process, int tid)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].tid == tid)
			return &process->threads[i];
	return NULL;
}

void child_check_memory(struct rcore_memory *memory, const struct child *child)
{
	uint64_t pattern = address_of(child->shared->pattern);
	uint8_t bytes[CHILD_PATTERN];
	ck_assert_int_eq(rcore_read(memory, pattern, bytes, 4096), RCORE_FAULT_NONE);
	for (int i = 0; i < 4096; i++)
		ck_assert_uint_eq(bytes[i], (uint8_t)(i * 7));
	ck_assert_int_eq(rcore_read(memory, pattern + 8192 + 100, bytes, 200),
			 RCORE_FAULT_NONE);
	for (int i = 0; i < 200; i++)
		ck_assert_uint_eq(bytes[i], (uint8_t)((8192 + 100 + i) * 7));
	ck_assert_int_eq(rcore_read(memory, pattern + 4090, bytes, 8), RCORE_FAULT_NOT_COPIED);
	ck_assert_int_eq(rcore_read(memory, pattern, bytes, sizeof(bytes)),
			 RCORE_FAULT_NOT_COPIED);
	ck_assert_int_eq(rcore_read(memory, address_of(child->shared->hole), bytes, 1),
			 RCORE_FAULT_UNMAPPED);
	ck_assert_int_eq(rcore_read(memory, address_of(child->shared->hole) - 1, bytes, 2),
			 RCORE_FAULT_UNMAPPED);
	ck_assert_int_eq(rcore_read(memory, 0, bytes, 1), RCORE_FAULT_UNMAPPED);
	ck_assert_int_eq(rcore_read(memory, UINT64_MAX - 1, bytes, 8), RCORE_FAULT_UNMAPPED);
	ck_assert_int_eq(rcore_read(memory, pattern, bytes, 0), RCORE_FAULT_NONE);
}

/*
 * Starts another process of this program, which stops the child and then waits
 * to be killed.
 */
pid_t child_start_tracer(const struct child *child)
{
	atomic_int *is_held = mmap(NULL, sizeof(*is_held), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t tracer = fork();
	if (!tracer) {
		signal(SIGTERM, SIG_DFL); /* Check has handlers of its own */
		signal(SIGINT, SIG_DFL);
		struct rcore_live *live = live_opened(child->pid);
		live_begun(live, true);
		*is_held = 1;
		for (;;)
			pause();
	}
	while (!*is_held)
		usleep(100);
	munmap((void *)is_held, sizeof(*is_held));
	return tracer;
}
