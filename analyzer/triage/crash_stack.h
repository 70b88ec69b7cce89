/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_CRASH_STACK_H
#define RCORE_TRIAGE_CRASH_STACK_H

#include "base/error.h"
#include "model/snapshot.h"

/* A frame of the one or the other stack; one of the two is NULL. */
struct rcore_crash_frame {
	const struct rcore_frame *ruby;
	const struct rcore_native_frame *native;
};

/*
 * The stack that a crash is told by, innermost first: of the fiber that died,
 * of the kernel thread that died where that runs no Ruby, else of the main
 * thread's running fiber; of that, too, where the signal came from outside,
 * since the kernel gives such a one to any thread. It begins where the fault
 * was: what ran after it (the signal's handler, abort()) is left out, and so
 * are the VM's dummy frames.
 */
struct rcore_crash_stack {
	/* Index; -1: a thread that runs no Ruby, or there is no stack. */
	int fiber;
	struct rcore_crash_frame *frames;
	size_t count;
};

/* Error: NO_MEMORY. The frames are the snapshot's. */
struct rcore_error *rcore_crash_stack_init(const struct rcore_snapshot *snapshot,
					   struct rcore_crash_stack *ret);
void rcore_crash_stack_deinit(struct rcore_crash_stack *stack);

#endif
