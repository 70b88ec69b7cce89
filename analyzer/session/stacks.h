/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_STACKS_H
#define RCORE_SESSION_STACKS_H

#include "image/unwind/unwind.h"
#include "session/reader.h"

/* The owner of a stack. */
struct rcore_stack_owner {
	int fiber; /* index into snapshot->fibers; -1: none */
	int other; /* index into snapshot->others; -1: none */
};

/*
 * The native stacks of a snapshot: where each begins, and, once they are
 * unwound, their frames.
 */
struct rcore_stacks {
	struct rcore_unwind_context *contexts;
	struct rcore_stack_owner *owners;
	size_t count, kernel_count; /* those of kernel threads come first */
};

/*
 * Lists the stacks of all kernel threads and parked fibers. If a parked fiber's
 * registers cannot be read, its native_problem says so. Error: NO_MEMORY.
 */
struct rcore_error *rcore_stacks_init(struct rcore_stacks *stacks,
				      const struct rcore_target *target,
				      const struct rcore_traits *traits,
				      struct rcore_snapshot *snapshot);
void rcore_stacks_deinit(struct rcore_stacks *stacks);

/* Stores the frames in each fiber and other thread. */
void rcore_stacks_hand_out(const struct rcore_stacks *stacks, struct rcore_snapshot *snapshot);

/* Takes the frames from a pack instead of unwinding. Error: NO_MEMORY. */
struct rcore_error *rcore_stacks_unpack(struct rcore_stacks *stacks,
					const struct rcore_target *target,
					struct rcore_snapshot *snapshot);

/*
 * Reads the registers that a parked fiber saved. Returns false if it is not
 * parked, or they cannot be read.
 */
bool rcore_parked_fiber(const struct rcore_target *target, const struct rcore_traits *traits,
			const struct rcore_fiber *fiber, struct rcore_unwind_context *ret);

#endif
