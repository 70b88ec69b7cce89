/* SPDX-License-Identifier: MIT */
#include "heap/share.h"

#include <stdlib.h>

#include "base/grow.h"

/* Each node is put on the stack once. */
struct reaching {
	const struct rcore_heap *heap;
	bool *seen;
	uint32_t *stack;
	uint32_t depth;
};

static void reach(struct reaching *reaching, uint32_t node)
{
	if (reaching->seen[node])
		return;
	reaching->seen[node] = true;
	reaching->stack[reaching->depth++] = node;
}

static void reach_all(struct reaching *reaching, int without)
{
	const struct rcore_heap *heap = reaching->heap;
	for (size_t i = 0; i < heap->root_count; i++)
		reach(reaching, heap->roots[i].node);
	while (reaching->depth) {
		uint32_t node = reaching->stack[--reaching->depth];
		for (uint32_t i = heap->first_edge[node]; i < heap->first_edge[node + 1]; i++)
			if (heap->type[node] != without ||
			    rcore_edge_kind(heap->label[i]) == RCORE_EDGE_CLASS)
				reach(reaching, heap->target[i]);
	}
}

static void count(const struct reaching *reaching, bool *missed, struct rcore_heap_share *ret)
{
	const struct rcore_heap *heap = reaching->heap;
	for (uint32_t node = 0; node < heap->node_count; node++) {
		bool is_marked = heap->type[node] && heap->state[node] & RCORE_HEAP_MARKED;
		bool is_reached = reaching->seen[node];
		ret->marked += is_marked;
		ret->reached += is_marked && is_reached;
		if (missed)
			missed[node] = is_marked && !is_reached;
	}
}

struct rcore_error *rcore_heap_count_reached(const struct rcore_heap *heap, int without,
					     bool *missed, struct rcore_heap_share *ret)
{
	struct reaching reaching = {
		.heap = heap,
		.seen = rcore_calloc(heap->node_count, sizeof(*reaching.seen)),
		.stack = rcore_calloc(heap->node_count, sizeof(*reaching.stack)),
	};
	struct rcore_error *err =
		reaching.seen && reaching.stack ? NULL : rcore_error_no_memory();
	*ret = (struct rcore_heap_share){0};
	if (!err) {
		reach_all(&reaching, without);
		count(&reaching, missed, ret);
	}
	free(reaching.seen);
	free(reaching.stack);
	return err;
}
