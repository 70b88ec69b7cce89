/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_CONTEXT_H
#define RCORE_MODEL_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/api.h"
#include "model/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A fiber's context: the table of keys and values that the gem ruby-profiler
 * publishes for each fiber. The gem keeps this layout for readers outside of
 * the process, such as BPF programs:
 *
 *	struct Ruby_Profiler_State {
 *		size_t size;      number of pairs
 *		size_t capacity;  number of slots, a power of two
 *		struct {
 *			ID key;   0: an empty slot
 *			VALUE value;
 *		} pairs[capacity];
 *	};
 *
 * A lookup begins at slot `key & (capacity - 1)` and proceeds slot by slot,
 * past the end to the first, until it finds the key or an empty slot, or has
 * seen all slots. Tables are often full.
 */
struct rcore_context_pair {
	uint64_t key;  /* ID */
	uint64_t slot; /* its place in the table */
	struct rcore_variable variable;
};

struct rcore_context {
	bool present;    /* the fiber has a state */
	uint64_t object; /* the Ruby::Profiler::State (VALUE) */
	/* struct Ruby_Profiler_State; 0: the state has no table. */
	uint64_t table;
	uint64_t size, capacity;          /* as the table has them */
	struct rcore_context_pair *pairs; /* in the order of their slots */
	size_t pair_count;
	/*
	 * ruby_profiler_state of the kernel thread that runs this fiber: what a
	 * profiler in the process would use. The fiber's own table is right:
	 * this pointer may be stale if the kernel thread ran another fiber
	 * before.
	 */
	bool has_thread_local;
	uint64_t thread_local_table;
	/* How it differs from `table`; NULL: it does not. */
	const char *difference;
	const char *problem; /* of the table as a whole */
};

/* Returns whether there is anything to print. */
static inline bool rcore_context_has_any(const struct rcore_context *context)
{
	return context->present || context->problem || context->difference;
}

/* Returns the pair that a lookup of an ID finds, or NULL. */
RCORE_API const struct rcore_context_pair *
rcore_context_find(const struct rcore_context *context, uint64_t key);

/* Returns the pair whose key has this name ("request_id"), or NULL. */
RCORE_API const struct rcore_context_pair *
rcore_context_get(const struct rcore_context *context, const char *name);

#ifdef __cplusplus
}
#endif

#endif
