/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_CRASH_STACK_H
#define RCORE_TRIAGE_CRASH_STACK_H

#include "base/error.h"
#include "model/snapshot.h"

/* A frame of either stack: one of the two is NULL. */
struct rcore_crash_frame {
	const struct rcore_frame *ruby;
	const struct rcore_native_frame *native;
};

/*
 * The stack that stands for a crash, innermost frame first. It is that of the
 * fiber that died; or, if the kernel thread that died runs no Ruby, of that
 * thread; otherwise that of the main thread's current fiber. If the signal came
 * from outside, it is also the main thread's, because the kernel delivers such
 * a signal to any thread. The stack begins where the fault was: it leaves out
 * what ran after it (the signal's handler, abort()), and the VM's dummy frames.
 */
struct rcore_crash_stack {
	/* Index; -1 for a thread that runs no Ruby, or if there is no stack. */
	int fiber;
	struct rcore_crash_frame *frames;
	size_t count;
};

/* The frames belong to the snapshot. Error: NO_MEMORY. */
struct rcore_error *rcore_crash_stack_init(const struct rcore_snapshot *snapshot,
					   struct rcore_crash_stack *ret);
void rcore_crash_stack_deinit(struct rcore_crash_stack *stack);

#endif
