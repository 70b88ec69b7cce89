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

bool rcore_heap_missing_barrier(const struct rcore_heap *heap, const uint8_t *notes,
				uint32_t *edge, uint32_t *ret)
{
	for (uint32_t node = rcore_heap_node_of_edge(heap, *edge); node < heap->node_count;
	     node++) {
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
