/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_STOP_H
#define RCORE_TARGET_LIVE_STOP_H

#include "target/process.h"

/*
 * Holds all threads of a process still, by PTRACE_SEIZE and PTRACE_INTERRUPT:
 * no signal is sent, a process that was stopped before stays so after, and a
 * signal that comes meanwhile is delivered at the end. A tracing thread of our
 * own does it, because the kernel lets go whatever a tracer holds when that
 * thread ends, however it ends:
 *
 *	- rcore is killed, or runs out of memory: the process runs on;
 *	- a thread of the target sleeps in the kernel and does not stop in time:
 *	  it does not run the program's code either, and is resumed with the
 *	  others;
 *	- the analysis takes too long: the tracing thread does not wait for it.
 */
enum {
	RCORE_STOP_WAIT_MS = 500, /* for the threads to stop */
	/* Then the process is let go whatever we do. */
	RCORE_STOP_LIMIT_MS = 2000,
	RCORE_STOP_THREAD_LIMIT = 100000,
};

struct rcore_stop;

/* What one thread of the process was at. */
struct rcore_stopped_thread {
	int tid;                           /* as this process sees it */
	struct rcore_native_thread thread; /* tid 0 */
};

/*
 * `folder`: of /proc/PID. 0, or errno: ESRCH (ended), EPERM (not allowed, or
 * traced by somebody else), E2BIG (too many threads), ENOMEM, EAGAIN (it is
 * just starting another program). While a process is held, the signals of job
 * control are blocked in the calling thread, which is the one to end it.
 */
int rcore_stop_begin(int folder, struct rcore_stop **ret);

/*
 * Those that had no time to stop have no registers. In the order of /proc, the
 * main thread first; they live until rcore_stop_end().
 */
const struct rcore_stopped_thread *rcore_stop_threads(const struct rcore_stop *stop,
						      size_t *count);

/*
 * False once the limit was reached: what is read from now on is of a running
 * process.
 */
bool rcore_stop_is_held(struct rcore_stop *stop);

/*
 * Lets the process go. Gives for how long its first thread stood still, in ns.
 * NULL-safe.
 */
uint64_t rcore_stop_end(struct rcore_stop *stop);

#endif
