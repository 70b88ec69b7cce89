/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_TREE_H
#define RCORE_PROFILE_TREE_H

#include "profile/totals.h"

/* The amount that an output shows. */
enum rcore_measure {
	RCORE_MEASURE_WALL,
	RCORE_MEASURE_CPU,
	RCORE_MEASURE_OFF_CPU, /* the wall time of a recording of --off-cpu */
	/* In a recording of system calls, in which wall time is bytes. */
	RCORE_MEASURE_CALLS,
	RCORE_MEASURE_BYTES,
};

static inline uint64_t rcore_measured(struct rcore_amounts amounts, enum rcore_measure measure)
{
	if (measure == RCORE_MEASURE_CALLS)
		return amounts.count;
	return measure == RCORE_MEASURE_CPU ? amounts.cpu : amounts.wall;
}

/*
 * A call tree. A function that a caller calls from several lines is one node. A
 * node's number is higher than its parent's. Node 0 is the root, which is not a
 * function.
 */
struct rcore_tree_node {
	uint32_t parent, function;
	uint32_t first_child, next_sibling; /* 0: none; by label */
	uint32_t depth;                     /* 0: the root */
	uint64_t self[RCORE_SIDES], total[RCORE_SIDES];
};

struct rcore_tree {
	const struct rcore_profile *profile;
	struct rcore_tree_node *items;
	size_t count;
	uint32_t max_depth;
	size_t left_out; /* nodes that took less time than the least */
};

/*
 * Leaves out nodes that took no time, or on both sides less than `least`
 * nanoseconds; their parents' totals contain them. Error: NO_MEMORY.
 */
struct rcore_error *rcore_tree_new(const struct rcore_totals *totals,
				   enum rcore_measure measure, uint64_t least,
				   struct rcore_tree **ret);
void rcore_tree_free(struct rcore_tree *tree); /* NULL-safe */

/*
 * Returns the node after `node` in depth-first order, callers before callees; 0
 * after the last one.
 */
uint32_t rcore_tree_next(const struct rcore_tree *tree, uint32_t node);

const char *rcore_tree_label(const struct rcore_tree *tree, uint32_t node);

/*
 * The time of a function. It counts once for each sample, however often it is
 * on the stack.
 */
struct rcore_method {
	uint32_t function;
	uint64_t self[RCORE_SIDES], total[RCORE_SIDES];
	uint64_t samples[RCORE_SIDES]; /* that contain it */
};

struct rcore_methods {
	struct rcore_method *items; /* by time of its own, longest first */
	size_t count;
	/* Of everything that is counted. */
	uint64_t whole[RCORE_SIDES], samples[RCORE_SIDES];
};

/* Which samples to count; all zeroes means all. */
struct rcore_methods_group {
	bool is_one;
	uint32_t function; /* the function of their outermost frame */
	/* If not NULL, only samples that have this label. */
	const struct rcore_profile_label *label;
};

/* Free `ret` with rcore_methods_deinit(). Error: NO_MEMORY. */
struct rcore_error *rcore_methods_init(const struct rcore_totals *totals,
				       enum rcore_measure measure,
				       const struct rcore_methods_group *group,
				       struct rcore_methods *ret);

/*
 * Like rcore_methods_init(), but counts each sample for one function alone,
 * owners[node], as its own time.
 */
struct rcore_error *rcore_owners_init(const struct rcore_totals *totals,
				      enum rcore_measure measure,
				      const struct rcore_methods_group *group,
				      const uint32_t *owners, struct rcore_methods *ret);

/* The groups of --by: the functions of outermost frames, longest time first. */
struct rcore_error *rcore_groups_init(const struct rcore_totals *totals,
				      enum rcore_measure measure, struct rcore_methods *ret);

void rcore_methods_deinit(struct rcore_methods *methods);

#endif
