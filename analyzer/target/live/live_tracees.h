/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_TRACEES_H
#define RCORE_TARGET_LIVE_TRACEES_H

#include "base/address_map.h"
#include "target/live/live_stop.h"

/*
 * The threads of a process as one thread of ours traces them: all here is to be
 * called in that thread, but for the end.
 */
enum rcore_tracee_state {
	RCORE_TRACEE_SEIZED,
	RCORE_TRACEE_HALTED,
	RCORE_TRACEE_ENDED,
};

struct rcore_tracee {
	int tid;
	enum rcore_tracee_state state;
	int signal; /* that it was about to get */
};

struct rcore_tracees {
	int folder; /* of /proc/PID; the rest may start as zero */
	struct {
		struct rcore_tracee *items;
		size_t count, capacity;
	} list;
	struct rcore_address_map known; /* tid to index */
	struct {
		struct rcore_stopped_thread *items;
		size_t count, capacity;
	} threads;
	int errnum; /* of the thread that could not be seized */
	/* Ns of CLOCK_MONOTONIC: first thread seized, last let go. */
	uint64_t begin, end;
};

/*
 * Seizes and stops them all and reads their registers. 0 or errno, as
 * rcore_stop_begin(); in either case there may be some to let go. Cancellation
 * of the calling thread must be disabled and asynchronous: it is enabled around
 * the one call that may wait for ever.
 */
int rcore_tracees_halt(struct rcore_tracees *tracees);

/* Those that have not stopped yet go free when the calling thread ends. */
void rcore_tracees_release(struct rcore_tracees *tracees);

void rcore_tracees_deinit(struct rcore_tracees *tracees);

#endif
