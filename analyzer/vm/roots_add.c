/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/object/value.h"
#include "vm/roots_private.h"

bool rcore_roots_add(struct rcore_roots *roots, uint64_t value,
		     const struct rcore_heap_root *like)
{
	struct rcore_heap *heap = roots->heap;
	uint32_t node = rcore_heap_node_at(heap, value, false);
	if (node == RCORE_HEAP_NONE || !heap->type[node])
		return true;
	if (!rcore_grow((void **)&heap->roots, heap->root_count, &roots->root_capacity,
			sizeof(*heap->roots)))
		return false;
	heap->roots[heap->root_count] = *like;
	heap->roots[heap->root_count++].node = node;
	return true;
}

bool rcore_roots_name(struct rcore_roots *roots, const char *name, uint32_t *ret)
{
	struct rcore_heap *heap = roots->heap;
	size_t count = heap->name_count;
	char *copy = strdup(name);
	/* The array may be full: its owner's capacity is not known here. */
	if (!roots->name_capacity)
		roots->name_capacity = count;
	if (!copy || heap->name_count == RCORE_HEAP_NONE ||
	    !rcore_grow((void **)&heap->names, count, &roots->name_capacity,
			sizeof(*heap->names))) {
		free(copy);
		return false;
	}
	heap->names[heap->name_count] = copy;
	*ret = heap->name_count++;
	return true;
}

void rcore_roots_problem(struct rcore_roots *roots, const char *problem)
{
	struct rcore_heap *heap = roots->heap;
	if (!heap->problem[0])
		snprintf(heap->problem, sizeof(heap->problem), "%s", problem);
}
