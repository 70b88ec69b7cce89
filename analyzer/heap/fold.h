/* SPDX-License-Identifier: MIT */
#ifndef RCORE_HEAP_FOLD_H
#define RCORE_HEAP_FOLD_H

#include "heap/dominators.h"

/*
 * The tree of dominators with one node for all objects of a class that one node
 * retains: "what App retains is 3 Arrays, and these retain 900 Orders". A chain
 * of objects of one class, as a linked list is, is one node, and a tree has at
 * most RCORE_FOLD_DEPTH levels: what is deeper belongs to the last one.
 */
enum { RCORE_FOLD_DEPTH = 48 };

struct rcore_fold_node {
	uint32_t above; /* a lower index; node 0 is all, and above itself */
	/* A number of the caller's, or an owner of the walk plus `groups`. */
	uint32_t title;
	uint32_t depth;
	uint64_t count, bytes; /* of the objects themselves; owners have none */
	uint64_t retained;
};

struct rcore_fold {
	struct rcore_fold_node *items;
	size_t count, capacity;
	/* How many nodes are left out; those above have their bytes. */
	size_t left_out;
};

/*
 * Folds the tree and keeps the `limit` nodes that retain most. `group` has a
 * number < `groups` for each slot. Free `ret` with rcore_fold_deinit(). Error:
 * NO_MEMORY.
 */
struct rcore_error *rcore_fold_init(const struct rcore_heap_walk *walk,
				    const struct rcore_dominators *dominators,
				    const uint32_t *group, uint32_t groups, size_t limit,
				    struct rcore_fold *ret);
void rcore_fold_deinit(struct rcore_fold *fold);

#endif
