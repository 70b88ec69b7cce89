/* SPDX-License-Identifier: MIT */
#ifndef RCORE_HEAP_DUPLICATES_H
#define RCORE_HEAP_DUPLICATES_H

#include "base/error.h"
#include "model/heap/heap.h"
#include "model/heap/heap_content.h"

struct rcore_duplicates {
	struct rcore_duplicate {
		size_t first, count; /* of the contents */
		uint64_t bytes;      /* of all of them */
		/* What one object would save: all but the smallest one. */
		uint64_t wasted;
	} * items; /* by wasted bytes, most first */
	size_t count, capacity;
	uint64_t wasted; /* by all */
};

/*
 * Sorts `contents` by hash and node, and finds those that occur several times.
 * Free `ret->items`. Error: NO_MEMORY.
 */
struct rcore_error *rcore_duplicates_find(const struct rcore_heap *heap,
					  struct rcore_content *contents, size_t count,
					  struct rcore_duplicates *ret);

#endif
