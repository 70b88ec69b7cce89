/* SPDX-License-Identifier: MIT */
#ifndef RCORE_HEAP_WALK_H
#define RCORE_HEAP_WALK_H

/*
 * heap/ computes with the graph of model/heap/heap.h: what is reachable, the
 * shortest path from a root, what refers to a node, what would be freed with
 * it, what grew between two heaps, what exists several times. It includes base/
 * and model/ only, and never reads the target. All walks are iterative; their
 * time is O(edges), or O(edges log nodes). Start here.
 */

#include "base/error.h"
#include "model/heap/heap.h"

/*
 * Why an object is alive can be asked of roots, too: "what would be freed
 * without $a?" So the graph is walked from one node that refers to a node for
 * each kind of root, which refers to a node for each name (and kind), which
 * refers to slots. These nodes are numbered after the slots: the one that all
 * walks start from is node heap->node_count.
 */
struct rcore_heap_owner {
	uint8_t kind; /* enum rcore_root_kind */
	/* An index of rcore_heap.names; 0: no name, or all of the kind. */
	uint32_t name;
	uint32_t roots; /* how many */
};

/*
 * The reachable nodes in depth-first order. What a node's `number` is here, is
 * its place in this order. The first node has number 0.
 */
struct rcore_heap_walk {
	const struct rcore_heap *heap;

	/*
	 * Nodes that are no slots: owner I is node heap->node_count + I. Owner
	 * 0 is what the walk starts from; owner K + 1 is all roots of kind K.
	 */
	struct rcore_heap_owner *owners;
	uint32_t owner_count;
	uint32_t *owner_first;  /* owner_count + 1: as rcore_heap.first_edge */
	uint32_t *owner_target; /* as rcore_heap.target */

	uint32_t count;   /* of reachable nodes */
	uint32_t *node;   /* by number */
	uint32_t *number; /* by node; 0: unreachable, or the first node */
	uint32_t *parent; /* by number: the number of the node that led to it */
};

/* Free `ret` with rcore_heap_walk_deinit(). Errors: NO_MEMORY, LIMIT. */
struct rcore_error *rcore_heap_walk_init(const struct rcore_heap *heap,
					 struct rcore_heap_walk *ret);
void rcore_heap_walk_deinit(struct rcore_heap_walk *walk);

/* Whether a walk has reached a node. */
static inline bool rcore_heap_is_reachable(const struct rcore_heap_walk *walk, uint32_t node)
{
	return walk->number[node] != 0;
}

/* Finds what a node refers to: (*targets)[*first] to (*targets)[*end - 1]. */
static inline void rcore_heap_walk_edges(const struct rcore_heap_walk *walk, uint32_t node,
					 const uint32_t **targets, uint32_t *first,
					 uint32_t *end)
{
	const struct rcore_heap *heap = walk->heap;
	bool is_slot = node < heap->node_count;
	const uint32_t *rows =
		is_slot ? &heap->first_edge[node] : &walk->owner_first[node - heap->node_count];
	*targets = is_slot ? heap->target : walk->owner_target;
	*first = rows[0];
	*end = rows[1];
}

#endif
