/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_OVERFLOW_H
#define RCORE_TRIAGE_OVERFLOW_H

#include "model/snapshot.h"
#include "target/process.h"

/*
 * Was a fault a machine stack that ran over? Machine stacks grow downwards into
 * something that faults:
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
 * The fault was that if its address is in there, the stack pointer at the fault
 * stands at the end of the stack too, and the code touched nothing below it.
 * (Ruby makes a SystemStackError of such a fault where it can; it cannot in a
 * thread that has left Ruby, in a collection, or with its handler replaced.)
 */

/*
 * Of the fault at `address` (0: not known) with `sp`, in the thread that
 * snapshot->cause names. `ret` is written only where it was.
 */
void rcore_overflow_find(const struct rcore_process *process,
			 const struct rcore_snapshot *snapshot, uint64_t address, uint64_t sp,
			 struct rcore_overflow *ret);

/*
 * "stack overflow of fiber T1.F3: address 0x.. is in the guard page 0x..-0x..
 * below its machine stack of 128 KiB", of snapshot->cause.overflow.
 */
void rcore_overflow_text(const struct rcore_snapshot *snapshot, char *buffer, size_t size);

#endif
