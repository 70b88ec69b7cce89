/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_GRAPH_H
#define RCORE_RUBY_GRAPH_H

#include "model/heap/heap.h"
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
 * Adds the edges of all nodes. References to anything but a used slot are
 * counted in dangling_edges. Errors: NO_MEMORY, LIMIT (2^32 edges).
 */
struct rcore_error *rcore_graph_edges(struct rcore_ruby *ruby, struct rcore_heap *heap);

/*
 * Call it after each page, with the number of pages so far. Now and then, it
 * releases the pages of a core's mapping, because this process's memory would
 * otherwise grow by the size of the core.
 */
void rcore_graph_release(struct rcore_ruby *ruby, size_t spans);

#endif
