/* SPDX-License-Identifier: MIT */
#ifndef RCORE_HEAP_SHARE_H
#define RCORE_HEAP_SHARE_H

#include "base/error.h"
#include "model/heap/heap.h"

/*
 * How much of what the collector marked a walk from the roots reaches. What it
 * does not reach died since, or a root or a reference is missing here.
 */
struct rcore_heap_share {
	uint32_t marked, reached;
};

enum { RCORE_SHARE_ALL = -1 };

/*
 * Counts, without the references of objects of the type `without`, except those
 * to their classes; RCORE_SHARE_ALL: with all. Sets missed[N] of each node that
 * is marked and not reached; `missed` may be NULL. Error: NO_MEMORY.
 */
struct rcore_error *rcore_heap_count_reached(const struct rcore_heap *heap, int without,
					     bool *missed, struct rcore_heap_share *ret);

#endif
