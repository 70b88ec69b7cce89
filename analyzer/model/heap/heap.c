/* SPDX-License-Identifier: MIT */
#include "model/heap/heap.h"

#include "base/order.h"

#include <stdlib.h>
#include <string.h>

/* Returns the last span that starts at or before the node; NULL: none. */
static const struct rcore_heap_span *span_by_node(const struct rcore_heap *heap, uint32_t node)
{
	size_t low = RCORE_PARTITION_POINT(heap->span_count, middle,
					   heap->spans[middle].first_node <= node);
	return low ? &heap->spans[low - 1] : NULL;
}

static const struct rcore_heap_span *span_by_address(const struct rcore_heap *heap,
						     uint64_t address)
{
	size_t low = RCORE_PARTITION_POINT(heap->span_count, middle,
					   heap->spans[middle].start <= address);
	return low ? &heap->spans[low - 1] : NULL;
}

uint64_t rcore_heap_address(const struct rcore_heap *heap, uint32_t node)
{
	const struct rcore_heap_span *span = span_by_node(heap, node);
	return span->start + (uint64_t)(node - span->first_node) * span->slot_size;
}

uint32_t rcore_heap_node_at(const struct rcore_heap *heap, uint64_t address, bool inside)
{
	const struct rcore_heap_span *span = span_by_address(heap, address);
	if (!span)
		return RCORE_HEAP_NONE;
	uint64_t offset = address - span->start, slot = offset / span->slot_size;
	if (slot >= span->slot_count || (!inside && offset % span->slot_size))
		return RCORE_HEAP_NONE;
	return span->first_node + (uint32_t)slot;
}

uint32_t rcore_heap_node_of_edge(const struct rcore_heap *heap, uint32_t edge)
{
	return (uint32_t)RCORE_PARTITION_POINT(heap->node_count, middle,
					       heap->first_edge[middle + 1] <= edge);
}

static uint64_t large_bytes(const struct rcore_heap *heap, uint32_t node)
{
	size_t low = RCORE_PARTITION_POINT(heap->large_count, middle,
					   heap->large[middle].node < node);
	return low < heap->large_count && heap->large[low].node == node ? heap->large[low].bytes
									: UINT32_MAX;
}

uint64_t rcore_heap_bytes(const struct rcore_heap *heap, uint32_t node)
{
	uint64_t extra = heap->extra[node];
	if (extra == UINT32_MAX)
		extra = large_bytes(heap, node);
	return span_by_node(heap, node)->slot_size + extra;
}

uint32_t rcore_heap_class(const struct rcore_heap *heap, uint32_t node)
{
	uint32_t edge = heap->first_edge[node];
	return edge < heap->first_edge[node + 1] &&
			       rcore_edge_kind(heap->label[edge]) == RCORE_EDGE_CLASS
		       ? heap->target[edge]
		       : RCORE_HEAP_NONE;
}

void rcore_heap_deinit(struct rcore_heap *heap)
{
	for (uint32_t i = 0; i < heap->name_count; i++)
		free((void *)heap->names[i]);
	free(heap->names);
	free(heap->spans);
	free(heap->type);
	free(heap->state);
	free(heap->extra);
	free(heap->large);
	free(heap->first_edge);
	free(heap->target);
	free(heap->label);
	free(heap->roots);
	free(heap->dangling);
	memset(heap, 0, sizeof(*heap));
}
