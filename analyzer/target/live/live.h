/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_H
#define RCORE_TARGET_LIVE_H

/*
 * target/live/ stops a running process, copies what is needed, and resumes it;
 * or reads it while it runs. live_stop.h explains the stop. Start here.
 */

#include "base/error.h"
#include "target/memory.h"
#include "target/live/live_memory.h"
#include "target/process.h"

/*
 * A running process. It is read in rounds:
 *
 *	rcore_live_forget()   reads return memory of the running process, and
 *	                      are noted
 *	rcore_live_begin()    stops the process and copies what was noted; reads
 *	                      return memory of that moment
 *	rcore_live_keep()     ... what else will be needed
 *	rcore_live_end()      resumes the process; reads return what was read or
 *	                      kept in this round, and parts of files that
 *	                      cannot have changed
 *
 * A round that has nothing noted is as good, but the process stands still for
 * longer.
 */
struct rcore_live;

/*
 * Stops nothing yet. Errors (OS, UNSUPPORTED, USAGE) name the process and the
 * next step: no such process, a thread's id, a zombie, a kernel thread, 32-bit,
 * not ours to read.
 */
struct rcore_error *rcore_live_open(int pid, struct rcore_live **ret);
void rcore_live_close(struct rcore_live *live); /* NULL-safe; ends a round */

/*
 * For whoever reads a process again and again while it runs, outside of all
 * rounds: many ranges in few system calls, and a memory whose reads keep
 * nothing. Both read what the process has at the moment.
 */
void rcore_live_read(struct rcore_live *live, struct rcore_live_range *ranges, size_t count);
struct rcore_memory *rcore_live_bare_memory(struct rcore_live *live);

/*
 * The descriptor of /proc/PID, which leads nowhere once the process has ended.
 */
int rcore_live_folder(const struct rcore_live *live);

/*
 * Both belong to `live` and live as long. The threads of the process are those
 * of the last rcore_live_begin(); they have registers only if that stopped it.
 */
struct rcore_memory *rcore_live_memory(struct rcore_live *live);
const struct rcore_process *rcore_live_process(const struct rcore_live *live);

void rcore_live_forget(struct rcore_live *live);

/*
 * `stop` false: copies without stopping. Errors: OS (it may not be stopped, is
 * traced by somebody, has ended), NO_MEMORY.
 */
struct rcore_error *rcore_live_begin(struct rcore_live *live, bool stop);

/* Wants [start, end) to be readable after the round. */
void rcore_live_keep(struct rcore_live *live, uint64_t start, uint64_t end);

/*
 * Where the used part of a machine stack ends that starts at `sp`. What is
 * mapped behind a thread's own stack may be one mapping with it; the thread
 * pointer (0: not known) shows where the stack ends, for the C library keeps
 * its own struct there.
 */
uint64_t rcore_live_stack_end(const struct rcore_live *live, uint64_t sp,
			      uint64_t thread_pointer);

struct rcore_live_pause {
	uint64_t nanoseconds;
	size_t thread_count; /* that were stopped */
	/* That slept in the kernel and could not be: without registers. */
	size_t unstopped_count;
	bool overdue; /* the process was let go before all was read */
};
void rcore_live_end(struct rcore_live *live, struct rcore_live_pause *ret);

/*
 * The process has ended, or was replaced by another program: what was read of
 * it may be of no use. NULL: it is still there.
 */
struct rcore_error *rcore_live_check(struct rcore_live *live);

/* The process's own number in its pid namespace; 0: the same as ours. */
int rcore_live_inner_pid(const struct rcore_live *live);

#endif
