/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_SLEEPERS_H
#define RCORE_TARGET_LIVE_SLEEPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/process.h"

/*
 * Finds out whether all threads slept from one moment to another. If they did,
 * none has executed any code of the program, and memory that was copied in
 * between is that of the later moment.
 *
 * The kernel counts how often each thread ran on a processor (the third number
 * of task/TID/schedstat) and how often it gave a processor up to wait
 * (voluntary_ctxt_switches in task/TID/status). A thread slept all the time if
 *
 *   - it was in a system call, or stopped by a signal, when it was noted
 *   - the first count is still the same just before the stop
 *   - it then has the same pc and stack pointer, and the stop has interrupted a
 *     call, unless a signal had stopped it before
 *   - one of the counts is then at most one higher: the stop woke the thread
 *
 * On a busy machine, a thread on its way to the stop may lose the processor to
 * others, which raises the first count again. Then only the second count shows
 * that it did not run. It is read only then, because that takes longer.
 *
 * One case is not noticed: a thread wakes in the microseconds before the stop,
 * works, and the stop reaches it in the kernel as it enters the same call from
 * the same place, before it sleeps.
 */
struct rcore_live_sleeper {
	int tid;
	bool sleeps;         /* false: it may have run */
	bool is_stopped;     /* by a signal, not in a system call */
	int file;            /* task/TID/schedstat; -1: open it again */
	uint64_t timeslices; /* that it ran on a processor */
	uint64_t waits;      /* voluntary context switches */
	uint64_t sp, pc;     /* its registers in the call */
};

/* All threads, asleep or not. Initialize it with zeroes. */
struct rcore_live_sleepers {
	int folder;                       /* /proc/PID; the caller's */
	struct rcore_live_sleeper *items; /* sorted by tid; owned */
	size_t count, capacity;
};

/*
 * The number of schedstat files that stay open. A process may have more threads
 * than rcore may open files; those of the others are opened each time.
 */
enum { RCORE_LIVE_SLEEPER_FILES = 256 };

/*
 * Notes all threads of the process whose /proc/PID is `folder`, which must stay
 * open. Replaces what was noted before. If the threads cannot be listed or
 * memory is short, none is noted, and none will count as asleep.
 */
void rcore_live_sleepers_note(struct rcore_live_sleepers *sleepers, int folder);

/*
 * Calls `visit` with the stack pointer of each thread that sleeps in a system
 * call now.
 */
void rcore_live_sleeping_stacks(int folder, void (*visit)(void *context, uint64_t sp),
				void *context);

/*
 * Reads the first count again, just before the stop. Threads that have run
 * since note() no longer count as asleep.
 */
void rcore_live_sleepers_check(struct rcore_live_sleepers *sleepers);

/* Whether the thread `tid` still slept at the last note() or check(). */
bool rcore_live_sleeps(const struct rcore_live_sleepers *sleepers, int tid);

/*
 * Returns whether the thread `tid` has slept since note(). `thread` has its
 * registers; it is stopped. Returns false in case of doubt, and always on
 * aarch64 (see rcore_syscall_is_interrupted()).
 */
bool rcore_live_has_slept(const struct rcore_live_sleepers *sleepers, unsigned machine, int tid,
			  const struct rcore_native_thread *thread);

/* Frees what was noted, and closes its files. */
void rcore_live_sleepers_clear(struct rcore_live_sleepers *sleepers);

#endif
