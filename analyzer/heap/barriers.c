/* SPDX-License-Identifier: MIT */
#include "heap/barriers.h"

static bool is_missing(const struct rcore_heap *heap, const uint8_t *notes, uint32_t from,
		       uint32_t edge)
{
	uint32_t to = heap->target[edge];
	return rcore_edge_kind(heap->label[edge]) != RCORE_EDGE_CONSERVATIVE &&
	       !(heap->state[to] & RCORE_HEAP_OLD) && !notes[to] &&
	       !(notes[from] & RCORE_NOTE_REMEMBERED);
}

/* Returns the node whose edges include `edge`. */
static uint32_t node_of(const struct rcore_heap *heap, uint32_t edge)
{
	uint32_t low = 0, high = heap->node_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (heap->first_edge[middle + 1] <= edge)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool rcore_heap_missing_barrier(const struct rcore_heap *heap, const uint8_t *notes,
				uint32_t *edge, uint32_t *ret)
{
	for (uint32_t node = node_of(heap, *edge); node < heap->node_count; node++) {
		if (!(heap->state[node] & RCORE_HEAP_OLD))
			continue;
		uint32_t at = heap->first_edge[node];
		for (at = at < *edge ? *edge : at; at < heap->first_edge[node + 1]; at++) {
			if (!is_missing(heap, notes, node, at))
				continue;
			*edge = at;
			*ret = node;
			return true;
		}
	}
	return false;
}
