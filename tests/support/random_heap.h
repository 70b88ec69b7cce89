/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TESTS_RANDOM_HEAP_H
#define RCORE_TESTS_RANDOM_HEAP_H

#include "draw.h"
#include "model/heap/heap.h"

/* Heaps that tests draw or build edge by edge. */

struct heap_builder {
	struct rcore_heap heap;
	struct {
		struct heap_edge {
			uint32_t from, to, label;
		} * items;
		size_t count, capacity;
	} edges;
	size_t root_capacity;
};

/*
 * Starts a heap of `nodes` objects, in pages of `page` slots of different sizes,
 * with different `extra` and `large` sizes. The test ends if memory is short.
 */
void heap_builder_init(struct heap_builder *builder, uint32_t nodes, uint32_t page);
void heap_builder_edge(struct heap_builder *builder, uint32_t from, uint32_t to,
		       uint32_t label);
/* `name` is copied; "": none. */
void heap_builder_root(struct heap_builder *builder, uint32_t node, enum rcore_root_kind kind,
		       const char *name);
/* Sorts the edges into rows. The heap is ready then. */
void heap_builder_finish(struct heap_builder *builder);
void heap_builder_deinit(struct heap_builder *builder);

/* Draws and finishes a heap of 1 to `most` nodes. */
void heap_builder_draw(struct heap_builder *builder, uint64_t *seed, uint32_t most);

#endif
