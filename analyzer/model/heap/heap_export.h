/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_HEAP_EXPORT_H
#define RCORE_MODEL_HEAP_EXPORT_H

#include "model/heap/heap.h"

/*
 * The reachable part of a heap with its texts, which are redacted: what writers
 * of other tools' formats need.
 */
struct rcore_heap_export {
	const struct rcore_heap *heap;
	/* By node: an index of `titles`: "Order", "Class Order". */
	const uint32_t *title;
	const char *const *titles;
	uint32_t title_count;
	/*
	 * How edges lead on, without indices: "@items", "an element"; by
	 * rcore_heap_step(). NULL if the heap has no such edge.
	 */
	const char *const *steps;
	/* "global variable $a"; by kind * heap->name_count + name. */
	const char *const *roots;
	size_t step_count, root_count; /* with those that are NULL */
};

/* Returns the index of an edge in rcore_heap_export.steps. */
static inline size_t rcore_heap_step(const struct rcore_heap *heap, uint32_t label)
{
	enum rcore_edge_kind kind = rcore_edge_kind(label);
	uint32_t number = rcore_edge_number(label);
	if (kind >= RCORE_EDGE_KINDS)
		kind = RCORE_EDGE_CONSERVATIVE;
	bool is_named = rcore_edge_has_name(kind) && number < heap->name_count;
	return (size_t)kind * heap->name_count + (is_named ? number : 0);
}

#endif
