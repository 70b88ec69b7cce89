/* SPDX-License-Identifier: MIT */
#include "target/live_stop.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/address_map.h"
#include "base/grow.h"
#include "target/live_files.h"

enum tracee_state { SEIZED, HALTED, ENDED };

struct tracee {
	int tid;
	enum tracee_state state;
	int signal; /* that it was about to get */
};

enum stop_state { STARTING, HELD, FAILED, RELEASED };

struct rcore_stop {
	int folder;
	pthread_t tracer;
	sigset_t mask; /* of the calling thread before */

	pthread_mutex_t lock;
	pthread_cond_t change;
	atomic_int state; /* enum stop_state; written with `lock` held */
	bool release;     /* asked for */

	/* The rest is the tracing thread's, until the state is HELD or FAILED. */
	int errnum;
	uint64_t begin, end; /* ns */
	struct {
		struct tracee *items;
		size_t count, capacity;
	} tracees;
	struct rcore_address_map known; /* tid to index */
	struct {
		struct rcore_stopped_thread *items;
		size_t count, capacity;
	} threads;
};

static uint64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Threads that are gone, or zombies, hold nothing that runs. */
static bool has_ended(const struct rcore_stop *stop, int tid)
{
	char name[64];
	struct rcore_live_status status;
	snprintf(name, sizeof(name), "task/%d/status", tid);
	return !rcore_live_status_read(stop->folder, name, &status) || status.state == 'Z' ||
	       status.state == 'X';
}

static bool seize(void *context, int tid)
{
	struct rcore_stop *stop = context;
	if (rcore_address_map_get(&stop->known, (uint64_t)tid) >= 0)
		return true;
	if (stop->tracees.count >= RCORE_STOP_THREAD_LIMIT) {
		stop->errnum = E2BIG;
		return false;
	}
	struct tracee *tracee = rcore_push(&stop->tracees);
	if (!tracee || !rcore_address_map_put(&stop->known, (uint64_t)tid,
					      (int)(stop->tracees.count - 1))) {
		stop->errnum = ENOMEM;
		return false;
	}
	tracee->tid = tid;
	if (!stop->begin)
		stop->begin = now();
	/* A thread that starts another program holds a lock that we wait for, until all other
	 * threads are gone; those that we hold are gone only when we say so. */
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	long refused = ptrace(PTRACE_SEIZE, tid, NULL, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	if (!refused && !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return true;
	int errnum = errno;
	tracee->state = ENDED;
	if (errnum == ESRCH || has_ended(stop, tid))
		return true;
	stop->errnum = errnum;
	return false;
}

/* A stop that is none of ours is that of a signal on its way: it gets there when we let go. */
static void look(struct tracee *tracee)
{
	int status;
	pid_t tid = waitpid(tracee->tid, &status, __WALL | WNOHANG);
	if (!tid || (tid < 0 && errno == EINTR))
		return;
	if (tid < 0 || !WIFSTOPPED(status)) {
		tracee->state = ENDED;
		return;
	}
	tracee->state = HALTED;
	if (status >> 16 != PTRACE_EVENT_STOP)
		tracee->signal = WSTOPSIG(status);
}

static void wait_until_halted(struct rcore_stop *stop)
{
	enum { FIRST_PAUSE = 20000, LAST_PAUSE = 1000000 }; /* ns */
	uint64_t limit = now() + RCORE_STOP_WAIT_MS * UINT64_C(1000000);
	struct timespec pause = {.tv_nsec = FIRST_PAUSE};
	for (size_t i = 0; i < stop->tracees.count;) {
		struct tracee *tracee = &stop->tracees.items[i];
		if (tracee->state == SEIZED)
			look(tracee);
		if (tracee->state != SEIZED) {
			i++;
			continue;
		}
		if (now() > limit)
			return;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < LAST_PAUSE)
			pause.tv_nsec *= 2;
	}
}

/* Threads start threads until the last of them has stopped. */
static void halt_all(struct rcore_stop *stop)
{
	size_t before;
	do {
		before = stop->tracees.count;
		int errnum = rcore_live_tasks(stop->folder, seize, stop);
		if (!stop->errnum && errnum)
			stop->errnum = errnum;
		wait_until_halted(stop);
	} while (!stop->errnum && stop->tracees.count > before);

	bool any = false;
	for (size_t i = 0; i < stop->tracees.count; i++)
		any |= stop->tracees.items[i].state != ENDED;
	if (!any && !stop->errnum)
		stop->errnum = ESRCH;
}

static void read_registers(const struct tracee *tracee, struct rcore_native_thread *ret)
{
	struct iovec set = {ret->registers, sizeof(ret->registers)};
	if (ptrace(PTRACE_GETREGSET, tracee->tid, NT_PRSTATUS, &set))
		return;
	ret->has_registers = true;
	ret->register_count = (int)(set.iov_len / sizeof(*ret->registers));
#ifdef __aarch64__
	uint64_t tls[2] = {0};
	set = (struct iovec){tls, sizeof(tls)};
	if (!ptrace(PTRACE_GETREGSET, tracee->tid, NT_ARM_TLS, &set))
		ret->thread_pointer = tls[0];
#else
	enum { FS_BASE = 21 };
	ret->thread_pointer = ret->registers[FS_BASE];
#endif
}

static void read_threads(struct rcore_stop *stop)
{
	for (size_t i = 0; i < stop->tracees.count; i++) {
		const struct tracee *tracee = &stop->tracees.items[i];
		if (tracee->state == ENDED)
			continue;
		struct rcore_stopped_thread *thread = rcore_push(&stop->threads);
		if (!thread) {
			stop->errnum = ENOMEM;
			return;
		}
		thread->tid = tracee->tid;
		if (tracee->state == HALTED)
			read_registers(tracee, &thread->thread);
	}
}

static void let_go(struct rcore_stop *stop)
{
	for (size_t i = 0; i < stop->tracees.count; i++) {
		const struct tracee *tracee = &stop->tracees.items[i];
		if (tracee->state == HALTED)
			ptrace(PTRACE_DETACH, tracee->tid, NULL,
			       (void *)(intptr_t)tracee->signal);
	}
	stop->end = now();
}

static void change_state(struct rcore_stop *stop, enum stop_state state)
{
	pthread_mutex_lock(&stop->lock);
	stop->state = state;
	pthread_cond_broadcast(&stop->change);
	pthread_mutex_unlock(&stop->lock);
}

static struct timespec limit_from(uint64_t begin)
{
	uint64_t limit = begin + RCORE_STOP_LIMIT_MS * UINT64_C(1000000);
	return (struct timespec){(time_t)(limit / 1000000000), (long)(limit % 1000000000)};
}

static void wait_for_release(struct rcore_stop *stop)
{
	struct timespec time = limit_from(stop->begin);
	pthread_mutex_lock(&stop->lock);
	while (!stop->release && !pthread_cond_timedwait(&stop->change, &stop->lock, &time))
		;
	stop->state = RELEASED;
	pthread_mutex_unlock(&stop->lock);
}

static void *trace(void *argument)
{
	struct rcore_stop *stop = argument;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	prctl(PR_SET_TIMERSLACK, 1);
	halt_all(stop);
	if (!stop->errnum)
		read_threads(stop);
	if (stop->errnum) {
		let_go(stop);
		change_state(stop, FAILED);
		return NULL;
	}
	change_state(stop, HELD);
	wait_for_release(stop);
	let_go(stop);
	return NULL;
}

/* All signals stay with the threads of whoever uses the library; Ctrl-Z must not stop us while the
 * target waits for us. */
static int start(struct rcore_stop *stop)
{
	sigset_t all, mask;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &stop->mask);
	int errnum = pthread_create(&stop->tracer, NULL, trace, stop);
	mask = stop->mask;
	if (!errnum) {
		sigaddset(&mask, SIGTSTP);
		sigaddset(&mask, SIGTTIN);
		sigaddset(&mask, SIGTTOU);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return errnum;
}

static void free_stop(struct rcore_stop *stop)
{
	pthread_cond_destroy(&stop->change);
	pthread_mutex_destroy(&stop->lock);
	rcore_address_map_deinit(&stop->known);
	free(stop->tracees.items);
	free(stop->threads.items);
	free(stop);
}

int rcore_stop_begin(int folder, struct rcore_stop **ret)
{
	struct rcore_stop *stop = calloc(1, sizeof(*stop));
	if (!stop)
		return ENOMEM;
	stop->folder = folder;
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&stop->lock, NULL);
	pthread_cond_init(&stop->change, &monotonic);
	pthread_condattr_destroy(&monotonic);
	int errnum = start(stop);
	if (errnum) {
		free_stop(stop);
		return errnum;
	}
	struct timespec time = limit_from(now());
	bool late = false;
	pthread_mutex_lock(&stop->lock);
	while (stop->state == STARTING && !late)
		late = pthread_cond_timedwait(&stop->change, &stop->lock, &time) != 0;
	errnum = stop->state == STARTING ? EAGAIN : stop->errnum;
	pthread_mutex_unlock(&stop->lock);
	if (errnum == EAGAIN)
		pthread_cancel(stop->tracer);
	if (errnum)
		rcore_stop_end(stop);
	else
		*ret = stop;
	return errnum;
}

const struct rcore_stopped_thread *rcore_stop_threads(const struct rcore_stop *stop,
						      size_t *count)
{
	*count = stop->threads.count;
	return stop->threads.items;
}

bool rcore_stop_is_held(struct rcore_stop *stop)
{
	return stop->state == HELD;
}

uint64_t rcore_stop_end(struct rcore_stop *stop)
{
	if (!stop)
		return 0;
	pthread_mutex_lock(&stop->lock);
	stop->release = true;
	pthread_cond_broadcast(&stop->change);
	pthread_mutex_unlock(&stop->lock);
	pthread_join(stop->tracer, NULL);
	pthread_sigmask(SIG_SETMASK, &stop->mask, NULL);
	uint64_t pause = stop->begin ? stop->end - stop->begin : 0;
	free_stop(stop);
	return pause;
}
