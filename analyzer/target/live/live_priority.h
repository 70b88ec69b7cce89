/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_PRIORITY_H
#define RCORE_TARGET_LIVE_PRIORITY_H

#include <pthread.h>
#include <stdbool.h>

/*
 * While a process is stopped, each timeslice that another program gets makes
 * the stop longer. So the threads that read it run before others, with the
 * lowest real-time priority, if the system allows that (CAP_SYS_NICE or
 * RLIMIT_RTPRIO); otherwise nothing happens. See sched(7).
 */
struct rcore_priority {
	/* Private. */
	int tid, policy;
	bool is_set;
};

/* For the calling thread, not for threads or processes that it starts. */
void rcore_priority_raise(struct rcore_priority *ret);

/* For a new thread. The caller destroys them. */
void rcore_priority_attributes(pthread_attr_t *ret);

/* Any thread may call this. Does nothing if it was called before. */
void rcore_priority_restore(struct rcore_priority *priority);

#endif
