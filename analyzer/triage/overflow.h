/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_OVERFLOW_H
#define RCORE_TRIAGE_OVERFLOW_H

#include "model/snapshot.h"
#include "target/process.h"

/*
 * Recognizes a fault that is the overflow of a machine stack. Machine stacks
 * grow downwards into something that faults:
 *
 *   fiber    cont.c's fiber_pool_expand() protects one page below the stack
 *            (rb_fiber_t.stack.base is just above it)
 *   thread   pthread_create() maps guard pages below the stack; newer C
 *            libraries mark them inside the mapping (MADV_GUARD_INSTALL), which
 *            no map shows. An M:N thread has a page of thread_pthread_mn.c
 *            between its VM stack and its machine stack
 *   main     nothing: the kernel lets it grow up to RLIMIT_STACK, or to the
 *            mapping below
 *
 * The fault is an overflow if its address is in that memory, the stack pointer
 * at the fault is at the end of the stack, too, and the code touched nothing
 * below it. (Ruby turns such a fault into a SystemStackError if it can. It
 * cannot in a thread that has left Ruby, during a collection, or if its handler
 * was replaced.)
 */

/*
 * Examines the fault at `address` (0: unknown) with `sp`, in the thread that
 * snapshot->cause names. Writes to `ret` only if it is an overflow.
 */
void rcore_overflow_find(const struct rcore_process *process,
			 const struct rcore_snapshot *snapshot, uint64_t address, uint64_t sp,
			 struct rcore_overflow *ret);

/*
 * Writes snapshot->cause.overflow as "stack overflow of fiber T1.F3: address
 * 0x.. is in the guard page 0x..-0x.. below its machine stack of 128 KiB".
 */
void rcore_overflow_text(const struct rcore_snapshot *snapshot, char *buffer, size_t size);

#endif
