/* SPDX-License-Identifier: MIT */
#ifndef RCORE_HEAP_RETAINED_H
#define RCORE_HEAP_RETAINED_H

#include "heap/dominators.h"

/* What a group of nodes retains, such as all objects of a class. */
struct rcore_heap_group {
	uint64_t count, bytes; /* of its reachable nodes themselves */
	/*
	 * The union of what each of them retains: what one retains within
	 * another of the group is counted once.
	 */
	uint64_t retained;
};

/*
 * Adds up each group. `group` has a number < group_count for each slot, or
 * RCORE_HEAP_NONE. `ret` has group_count elements. Error: NO_MEMORY.
 */
struct rcore_error *rcore_heap_group_retained(const struct rcore_heap_walk *walk,
					      const struct rcore_dominators *dominators,
					      const uint32_t *group, uint32_t group_count,
					      struct rcore_heap_group *ret);

/* Selects slots. */
struct rcore_heap_filter {
	bool (*selects)(void *context, uint32_t node);
	void *context;
};

/*
 * Finds the `limit` slots that retain most, largest first, then by address.
 * Leaves out what the filter, which may be NULL, does not select. If each
 * object of a group retains the next one, as in a linked list, only the first
 * two count; `group` as above, or NULL. `ret` has room for `limit` nodes.
 * Returns how many were found.
 */
size_t rcore_heap_top_retained(const struct rcore_heap_walk *walk,
			       const struct rcore_dominators *dominators, const uint32_t *group,
			       const struct rcore_heap_filter *filter, size_t limit,
			       uint32_t *ret);

#endif
