/* SPDX-License-Identifier: MIT */
#ifndef RCORE_HEAP_PATH_H
#define RCORE_HEAP_PATH_H

#include "base/error.h"
#include "model/heap/heap.h"

/*
 * A shortest path from a root to each reachable node. Paths without a
 * conservative root or edge are preferred, then short ones, then those from
 * roots whose kind comes first.
 */
struct rcore_heap_paths {
	const struct rcore_heap *heap;
	/*
	 * By node: the node before it; heap->node_count + R: it is what root R
	 * refers to; RCORE_HEAP_NONE: it is unreachable.
	 */
	uint32_t *before;
	/*
	 * By node: the edge from the node before it, or RCORE_HEAP_NONE. Of
	 * several edges, one that is not conservative, if there is one.
	 */
	uint32_t *edge;
	/* The reachable nodes, by the length of their paths. */
	uint32_t *order;
	uint32_t count;
	/* How many of them need nothing conservative. */
	uint32_t certain;
	/* Of rcore_heap_paths_to(): how many goals have no path yet. */
	size_t missing;
};

/* Free `ret` with rcore_heap_paths_deinit(). Errors: NO_MEMORY, LIMIT. */
struct rcore_error *rcore_heap_paths_init(const struct rcore_heap *heap,
					  struct rcore_heap_paths *ret);
/*
 * Does the same, but ends as soon as `count` nodes have their paths: those that
 * rcore_heap_paths_init() finds for them. Others may look unreachable.
 */
struct rcore_error *rcore_heap_paths_to(const struct rcore_heap *heap, const uint32_t *nodes,
					size_t count, struct rcore_heap_paths *ret);
void rcore_heap_paths_deinit(struct rcore_heap_paths *paths);

/* How a path reaches a node. */
struct rcore_heap_step {
	uint32_t node;
	/* Of the edge from the step before; 0 for the first step. */
	uint32_t label;
};

struct rcore_heap_path {
	const struct rcore_heap_root *root; /* NULL: the node is unreachable */
	/* From what the root refers to, up to the node. */
	struct rcore_heap_step *steps;
	size_t count;
};

/* Free `ret` with rcore_heap_path_deinit(). Error: NO_MEMORY. */
struct rcore_error *rcore_heap_path_init(const struct rcore_heap_paths *paths, uint32_t node,
					 struct rcore_heap_path *ret);
void rcore_heap_path_deinit(struct rcore_heap_path *path);

/* What refers to a node: nodes in their order, and roots. */
struct rcore_heap_referrers {
	struct rcore_heap_step *items; /* `node` is the referrer */
	size_t count;
	const struct rcore_heap_root **roots;
	size_t root_count;
	uint64_t total; /* edges and roots, with those above the limit */
};

/*
 * Finds at most `limit` nodes and all roots that refer to `node`.
 * Free `ret` with rcore_heap_referrers_deinit(). Error: NO_MEMORY.
 */
struct rcore_error *rcore_heap_referrers_init(const struct rcore_heap *heap, uint32_t node,
					      size_t limit, struct rcore_heap_referrers *ret);
void rcore_heap_referrers_deinit(struct rcore_heap_referrers *referrers);

#endif
