/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_GRAPH_H
#define RCORE_RUBY_GRAPH_H

#include "model/heap.h"
#include "ruby/children/children.h"

/*
 * Reads the slots of all pages: their types, sizes and state. No edges. Reads
 * each page at once. Errors: NO_MEMORY; LIMIT (more than 2^32 slots); those of
 * rcore_heap_walk() if the list of pages is implausible. Free `ret` with
 * rcore_heap_deinit(), also after an error.
 */
struct rcore_error *rcore_graph_slots(struct rcore_ruby *ruby, uint64_t objspace,
				      struct rcore_heap *ret);

/*
 * Adds the edges of all nodes. References to what is no used slot are counted
 * in dangling_edges. Errors: NO_MEMORY, LIMIT (2^32 edges).
 */
struct rcore_error *rcore_graph_edges(struct rcore_ruby *ruby, struct rcore_heap *heap);

/* Counts by class. */
struct rcore_census_row {
	/*
	 * RBasic.klass; of what has none, a small number that differs by the
	 * type, and by that of an imemo: 1 + type + (imemo << 8).
	 */
	uint64_t key;
	uint8_t type; /* of the first object */
	uint64_t count, bytes;
};

struct rcore_census {
	struct rcore_census_row *items; /* by bytes, the largest first */
	size_t count, capacity;
};

/* Returns the key of an object; `copy` has its slot. */
uint64_t rcore_census_key(struct rcore_ruby *ruby, const void *copy, size_t size);

/*
 * Reads the slots and counts their objects by RBasic.klass. The same errors.
 * Free both.
 */
struct rcore_error *rcore_graph_census(struct rcore_ruby *ruby, uint64_t objspace,
				       struct rcore_heap *ret, struct rcore_census *census);

#endif
