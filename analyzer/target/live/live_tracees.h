/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_TRACEES_H
#define RCORE_TARGET_LIVE_TRACEES_H

#include "base/address_map.h"
#include "target/live/live_stop.h"

/*
 * The threads of a process, traced by one thread of rcore's own. Call
 * everything here in that thread, except the end.
 */
enum rcore_tracee_state {
	RCORE_TRACEE_SEIZED,
	RCORE_TRACEE_HALTED,
	RCORE_TRACEE_ENDED,
};

struct rcore_tracee {
	int tid;
	bool sleeps;         /* according to `sleepers`, when it was seized */
	bool is_interrupted; /* asked to stop */
	enum rcore_tracee_state state;
	int signal; /* that it was about to receive */
	/* Registers, once the thread is HALTED. `thread.tid` is not set. */
	struct rcore_native_thread thread;
};

struct rcore_tracees {
	int folder; /* of /proc/PID; all other members may start as zero */
	/* NULL: it is not known which threads sleep. Not owned. */
	const struct rcore_live_sleepers *sleepers;
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
	/*
	 * Nanoseconds of CLOCK_MONOTONIC: first thread interrupted, last one
	 * resumed.
	 */
	uint64_t begin, end;
};

/*
 * Seizes and stops them all, and reads their registers. Threads that sleep are
 * stopped first and resumed last: that takes most of the time, and meanwhile
 * the others work. Returns 0 or errno like
 * rcore_stop_begin(); in either case, some may have to be resumed. Cancellation
 * of the calling thread must be disabled and asynchronous: it is enabled around
 * the one call that may wait forever.
 */
int rcore_tracees_halt(struct rcore_tracees *tracees);

/*
 * Threads that have not stopped yet are released when the calling thread ends.
 */
void rcore_tracees_release(struct rcore_tracees *tracees);

void rcore_tracees_deinit(struct rcore_tracees *tracees);

#endif
