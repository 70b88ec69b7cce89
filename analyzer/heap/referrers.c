/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "heap/path.h"

/* One pass over all edges takes less time than to sort them by target. */
struct rcore_error *rcore_heap_referrers_init(const struct rcore_heap *heap, uint32_t node,
					      size_t limit, struct rcore_heap_referrers *ret)
{
	size_t capacity = 0, root_capacity = 0;
	memset(ret, 0, sizeof(*ret));
	for (uint32_t edge = 0; edge < heap->edge_count; edge++) {
		if (heap->target[edge] != node)
			continue;
		ret->total++;
		if (ret->count == limit)
			continue;
		if (!rcore_grow((void **)&ret->items, ret->count, &capacity,
				sizeof(*ret->items)))
			goto no_memory;
		ret->items[ret->count].node = rcore_heap_node_of_edge(heap, edge);
		ret->items[ret->count++].label = heap->label[edge];
	}
	for (size_t i = 0; i < heap->root_count; i++) {
		if (heap->roots[i].node != node)
			continue;
		ret->total++;
		if (ret->root_count == limit)
			continue;
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
