/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_CONTEXT_H
#define RCORE_MODEL_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/api.h"
#include "model/value.h"

/*
 * A fiber's context: the key/value table that the gem ruby-profiler publishes for it. The contract,
 * which the gem keeps for readers from outside such as BPF programs:
 *
 *	struct Ruby_Profiler_State {
 *		size_t size;      number of pairs
 *		size_t capacity;  number of slots, a power of two
 *		struct { ID key; VALUE value; } pairs[capacity];  key 0: an empty slot
 *	};
 *
 * A key's home slot is key & (capacity - 1). A look-up goes on from there slot by slot, round the
 * end, until the key, an empty slot, or all slots were seen: full tables are usual.
 */
struct rcore_context_pair {
	uint64_t key;  /* ID */
	uint64_t slot; /* where it stands in the table */
	struct rcore_variable variable;
};

struct rcore_context {
	bool present;            /* a state was applied to the fiber */
	uint64_t object;         /* the Ruby::Profiler::State (VALUE) */
	uint64_t table;          /* struct Ruby_Profiler_State; 0: a state without a table */
	uint64_t size, capacity; /* as the table says */
	struct rcore_context_pair *pairs; /* in the order of their slots */
	size_t pair_count;
	/* ruby_profiler_state of the kernel thread that runs this fiber: what a profiler in the
	 * process would take for its context. The fiber's own is the truth: the pointer may be
	 * stale on a native thread that was used before, or that took over another's fiber. */
	bool has_thread_local;
	uint64_t thread_local_table;
	const char *difference; /* in words, where that is not `table`; NULL: it is */
	const char *problem;    /* of the table as a whole */
};

/* Whether there is anything to say of it. */
static inline bool rcore_context_has_any(const struct rcore_context *context)
{
	return context->present || context->problem || context->difference;
}

/* The slot at which a look-up of `key` begins; `capacity` is a power of two. */
static inline uint64_t rcore_context_home(uint64_t key, uint64_t capacity)
{
	return key & (capacity - 1);
}

/* The pair that a look-up of an ID finds, by the way above; NULL: none. */
RCORE_API const struct rcore_context_pair *
rcore_context_find(const struct rcore_context *context, uint64_t key);

/* The pair of a key by its name ("request_id"); NULL: none. */
RCORE_API const struct rcore_context_pair *
rcore_context_get(const struct rcore_context *context, const char *name);

#endif
