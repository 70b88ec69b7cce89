/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_COPIES_H
#define RCORE_SAMPLER_COPIES_H

#include "sampler/stack/stack.h"

/*
 * Memory for the decoders: the copies of a stack, and the running process for
 * the rest.
 */
struct rcore_copies {
	/* must come first: the callbacks cast it back */
	struct rcore_memory memory;
	const struct rcore_stack *stack; /* may be NULL */
	/* Sorted by `bottom`; only their values and frames are read. */
	struct rcore_stack **stacks;
	size_t stack_count;
	/* Sorted by `thread`; only their rb_thread_t is read. */
	struct rcore_stack **threads;
	size_t thread_count;
	/* What else was copied. */
	const struct rcore_live_range *others;
	size_t other_count;
	struct rcore_memory *below; /* NULL: what was not copied is not read */
};

void rcore_copies_init(struct rcore_copies *copies, struct rcore_memory *below);

/*
 * Adds what was copied of many stacks, and sorts the array. It must stay until
 * stack_count is 0 again.
 */
void rcore_copies_add(struct rcore_copies *copies, struct rcore_stack **stacks, size_t count);
/* Does the same for copies of rb_thread_t, until thread_count is 0 again. */
void rcore_copies_add_threads(struct rcore_copies *copies, struct rcore_stack **stacks,
			      size_t count);

#endif
