/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_STOP_H
#define RCORE_TARGET_LIVE_STOP_H

#include "target/live/live_sleepers.h"
#include "target/process.h"

/*
 * Stops all threads of a process with PTRACE_SEIZE and PTRACE_INTERRUPT. No
 * signal is sent; a process that was stopped before is still stopped
 * afterwards, and a signal that arrives meanwhile is delivered at the end. A
 * tracing thread of rcore's own does this, because the kernel resumes
 * everything that a tracer holds when that thread ends, however it ends:
 *
 *   - If rcore is killed or runs out of memory, the process resumes.
 *   - If a thread of the target sleeps in the kernel and does not stop in time,
 *     it does not run the program's code either. It is resumed with the others.
 *   - If the analysis takes too long, the tracing thread does not wait for it.
 */
enum {
	RCORE_STOP_WAIT_MS = 500, /* for the threads to stop */
	/* After this, the process is resumed in any case. */
	RCORE_STOP_LIMIT_MS = 2000,
	RCORE_STOP_THREAD_LIMIT = 100000,
};

struct rcore_stop;

/* The state of one thread of the process. */
struct rcore_stopped_thread {
	/* in the pid namespace of rcore */
	int tid;
	struct rcore_native_thread thread; /* its tid is not set */
};

/*
 * `folder` is /proc/PID. Threads of which `sleepers` says that they sleep are
 * stopped before the others; it may be NULL. The process is resumed `limit`
 * milliseconds after its first thread stopped, but at the earliest when all
 * have stopped, or, if `limit` is 0, after RCORE_STOP_LIMIT_MS. Returns 0 or
 * errno: ESRCH (ended), EPERM (not allowed, or already traced), E2BIG (too many
 * threads), ENOMEM, EAGAIN (it did not stop in time: it is just executing
 * another program, or the machine is busy). While the process is held, the
 * signals of job control and SIGCHLD are blocked in the calling thread, which
 * must also end the stop.
 */
int rcore_stop_begin(int folder, const struct rcore_live_sleepers *sleepers, unsigned limit,
		     struct rcore_stop **ret);

/*
 * Threads that did not stop in time have no registers. They are in the order of
 * /proc, the main thread first, and valid until rcore_stop_end().
 */
const struct rcore_stopped_thread *rcore_stop_threads(const struct rcore_stop *stop,
						      size_t *count);

/*
 * Returns whether the calling thread still has the priority that it got for the
 * stop.
 */
bool rcore_stop_is_urgent(struct rcore_stop *stop);

/*
 * Returns false once the limit is reached: from then on, the process is
 * running.
 */
bool rcore_stop_is_held(struct rcore_stop *stop);

/*
 * Resumes the process. Returns for how long its first thread was stopped, in
 * ns. NULL-safe.
 */
uint64_t rcore_stop_end(struct rcore_stop *stop);

#endif
