/* SPDX-License-Identifier: MIT */
#ifndef RCORE_HEAP_DOMINATORS_H
#define RCORE_HEAP_DOMINATORS_H

#include "heap/walk.h"

/*
 * Node D dominates node N if every path from the roots to N leads over D: N is
 * freed with D. The nearest of them is N's immediate dominator, and these
 * relations form a tree. The bytes of a subtree are what its root retains.
 */
struct rcore_dominators {
	uint32_t count; /* as in the walk */
	/* By number: the number of the immediate dominator, which is lower. */
	uint32_t *dominator;
	/* By number: bytes; an owner has none of its own. */
	uint64_t *retained;
};

/*
 * Computes the tree of all nodes that the walk reached. Takes the walk's
 * `parent`, which is NULL afterwards. Error: NO_MEMORY.
 */
struct rcore_error *rcore_dominators_init(struct rcore_heap_walk *walk,
					  struct rcore_dominators *ret);
void rcore_dominators_deinit(struct rcore_dominators *dominators);

#endif
