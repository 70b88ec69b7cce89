/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "heap/path.h"

/*
 * Whether an edge with this name is in the list already: a local of several
 * frames of a method, or of a stack that CRuby marks twice, as that of a
 * thread's root fiber. The edges of a node follow each other.
 */
static bool is_repeated(const struct rcore_heap_referrers *found,
			const struct rcore_heap_step *step)
{
	enum { LOOK_BACK = 256 };
	if (!rcore_edge_has_name(rcore_edge_kind(step->label)))
		return false;
	for (size_t i = found->count, n = 0; i-- && n < LOOK_BACK; n++) {
		if (found->items[i].node != step->node)
			return false;
		if (found->items[i].label == step->label)
			return true;
	}
	return false;
}

/* One pass over all edges takes less time than to sort them by target. */
struct rcore_error *rcore_heap_referrers_init(const struct rcore_heap *heap, uint32_t node,
					      size_t limit, struct rcore_heap_referrers *ret)
{
	size_t capacity = 0, root_capacity = 0;
	memset(ret, 0, sizeof(*ret));
	for (uint32_t edge = 0; edge < heap->edge_count; edge++) {
		if (heap->target[edge] != node)
			continue;
		const struct rcore_heap_step step = {rcore_heap_node_of_edge(heap, edge),
						     heap->label[edge]};
		if (is_repeated(ret, &step))
			continue;
		ret->total++;
		if (ret->count == limit)
			continue;
		if (!rcore_grow((void **)&ret->items, ret->count, &capacity,
				sizeof(*ret->items)))
			goto no_memory;
		ret->items[ret->count++] = step;
	}
	for (size_t i = 0; i < heap->root_count; i++) {
		if (heap->roots[i].node != node)
			continue;
		ret->total++;
		if (!rcore_grow((void **)&ret->roots, ret->root_count, &root_capacity,
				sizeof(struct rcore_heap_root *)))
			goto no_memory;
		ret->roots[ret->root_count++] = &heap->roots[i];
	}
	return NULL;
no_memory:
	rcore_heap_referrers_deinit(ret);
	return rcore_error_no_memory();
}

void rcore_heap_referrers_deinit(struct rcore_heap_referrers *referrers)
{
	free(referrers->items);
	free(referrers->roots);
	memset(referrers, 0, sizeof(*referrers));
}
