/* SPDX-License-Identifier: MIT */
#include "target/live/live_stop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "target/live/live_priority.h"
#include "target/live/live_tracees.h"

enum stop_state { STARTING, HELD, FAILED, RELEASED };

struct rcore_stop {
	pthread_t tracer;
	sigset_t mask; /* of the calling thread, as it was before */
	/* By CLOCK_MONOTONIC: when the process is resumed at the latest. */
	struct timespec limit;
	unsigned most; /* the caller's limit in ms; 0: none */

	struct rcore_priority reader; /* of the calling thread; needs `lock` */

	pthread_mutex_t lock;
	pthread_cond_t change;
	atomic_int state; /* enum stop_state; written with `lock` held */
	bool release;     /* asked for */

	/* Belongs to the tracing thread until the state is HELD or FAILED. */
	struct rcore_tracees tracees;
	int errnum;
};

static void change_state(struct rcore_stop *stop, enum stop_state state)
{
	pthread_mutex_lock(&stop->lock);
	stop->state = state;
	pthread_cond_broadcast(&stop->change);
	pthread_mutex_unlock(&stop->lock);
}

static struct timespec time_of(uint64_t nanoseconds)
{
	const uint64_t second = 1000000000;
	return (struct timespec){(time_t)(nanoseconds / second), (long)(nanoseconds % second)};
}

static struct timespec limit_from_now(void)
{
	return time_of(rcore_clock_ns() + RCORE_STOP_LIMIT_MS * UINT64_C(1000000));
}

/* Waits with `lock` held. */
static void wait_until(struct rcore_stop *stop, const struct timespec *limit)
{
	while (!stop->release && !pthread_cond_timedwait(&stop->change, &stop->lock, limit))
		;
}

/*
 * A reader that needs longer than RAISED_MS gets its own priority back, because
 * other programs have waited long enough by then.
 */
static void wait_for_release(struct rcore_stop *stop)
{
	enum { RAISED_MS = 50 };
	const uint64_t begin = stop->tracees.begin, ms = 1000000;
	struct timespec limit = stop->limit, raised = time_of(begin + RAISED_MS * ms);
	if (stop->most && stop->most < RCORE_STOP_LIMIT_MS)
		limit = time_of(begin + stop->most * ms);
	pthread_mutex_lock(&stop->lock);
	wait_until(stop, stop->most && stop->most < RAISED_MS ? &limit : &raised);
	if (!stop->release)
		rcore_priority_restore(&stop->reader);
	wait_until(stop, &limit);
	stop->state = RELEASED;
	pthread_mutex_unlock(&stop->lock);
}

static void *trace(void *argument)
{
	struct rcore_stop *stop = argument;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	prctl(PR_SET_TIMERSLACK, 1);
	struct rcore_priority raised;
	rcore_priority_raise(&raised);
	stop->errnum = rcore_tracees_halt(&stop->tracees);
	if (stop->errnum) {
		rcore_tracees_release(&stop->tracees);
		change_state(stop, FAILED);
		return NULL;
	}
	change_state(stop, HELD);
	wait_for_release(stop);
	rcore_tracees_release(&stop->tracees);
	return NULL;
}

/*
 * Signals go to the other threads of the library's user. Ctrl-Z must not stop
 * rcore while the target waits for it. The kernel sends SIGCHLD for each thread
 * that stops: it would wake the calling thread each time, on the processor that
 * the next one needs to stop.
 */
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
		sigaddset(&mask, SIGCHLD);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return errnum;
}

static void free_stop(struct rcore_stop *stop)
{
	pthread_cond_destroy(&stop->change);
	pthread_mutex_destroy(&stop->lock);
	rcore_tracees_deinit(&stop->tracees);
	free(stop);
}

int rcore_stop_begin(int folder, const struct rcore_live_sleepers *sleepers, unsigned limit,
		     struct rcore_stop **ret)
{
	struct rcore_stop *stop = calloc(1, sizeof(*stop));
	if (!stop)
		return ENOMEM;
	stop->tracees.folder = folder;
	stop->tracees.sleepers = sleepers;
	stop->limit = limit_from_now();
	stop->most = limit;
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&stop->lock, NULL);
	pthread_cond_init(&stop->change, &monotonic);
	pthread_condattr_destroy(&monotonic);
	rcore_priority_raise(&stop->reader);
	int errnum = start(stop);
	if (errnum) {
		rcore_priority_restore(&stop->reader);
		free_stop(stop);
		return errnum;
	}
	bool late = false;
	pthread_mutex_lock(&stop->lock);
	while (stop->state == STARTING && !late)
		late = pthread_cond_timedwait(&stop->change, &stop->lock, &stop->limit) != 0;
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
	*count = stop->tracees.threads.count;
	return stop->tracees.threads.items;
}

bool rcore_stop_is_urgent(struct rcore_stop *stop)
{
	pthread_mutex_lock(&stop->lock);
	bool is_urgent = stop->state == HELD && stop->reader.is_set;
	pthread_mutex_unlock(&stop->lock);
	return is_urgent;
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
	rcore_priority_restore(&stop->reader);
	pthread_sigmask(SIG_SETMASK, &stop->mask, NULL);
	uint64_t pause = stop->tracees.begin ? stop->tracees.end - stop->tracees.begin : 0;
	free_stop(stop);
	return pause;
}
