/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_REST_H
#define RCORE_TARGET_LIVE_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/process.h"

/*
 * Whether threads have rested from one moment to another, that is, executed
 * nothing of the program. If all have, memory that was copied in between is
 * that of the later moment.
 *
 * A thread that sleeps in a system call executes nothing, and the kernel counts
 * how often each thread got a processor, and how often it gave one up to sleep.
 * A thread has rested if
 *
 *   the first count is the same just before the stop
 *   the stop interrupted a call with the same pc and stack pointer
 *   one of the counts is then at most one higher: the stop woke the thread
 *
 * On a busy machine, a thread on its way to the stop may lose the processor to
 * others; then only the second count shows that. It is slower to read.
 *
 * One case remains: a thread wakes in the microseconds before the stop, works,
 * and the stop reaches it in the kernel as it enters the same call from the
 * same place, before it sleeps.
 */
struct rcore_live_sleeper {
	int tid;
	bool sleeps;       /* in a system call */
	int file;          /* task/TID/schedstat; -1: must be opened again */
	uint64_t arrivals; /* on a processor */
	uint64_t waits;
	uint64_t sp, pc;
};

struct rcore_live_rest {
	int folder;
	struct rcore_live_sleeper *items;
	size_t count, capacity;
};

/* Of how many threads the file stays open: far fewer than a process may have */
enum { RCORE_LIVE_REST_FILES = 256 };

/* Notes all threads. `folder` is /proc/PID. Clears what was noted before. */
void rcore_live_rest_note(struct rcore_live_rest *rest, int folder);

/*
 * Counts again, just before the stop: who has run since note() has not rested.
 */
void rcore_live_rest_confirm(struct rcore_live_rest *rest);

/*
 * Whether the thread with that id has rested since note(), given its registers
 * while it is stopped. False if in doubt, and always on aarch64.
 */
bool rcore_live_has_rested(const struct rcore_live_rest *rest, unsigned machine, int tid,
			   const struct rcore_native_thread *thread);

void rcore_live_rest_clear(struct rcore_live_rest *rest);

#endif
