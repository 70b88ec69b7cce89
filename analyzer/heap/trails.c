/* SPDX-License-Identifier: MIT */
#include "heap/trails.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/*
 * How far back a step is looked for on its trail. Only a trail that is as long
 * as it may be is searched whole.
 */
enum { FOLD = 8 };

/* The fewest buckets of the hash table; a power of two. */
enum { TABLE_SIZE = 1 << 10 };

static uint64_t hash(uint32_t before, uint32_t step, uint32_t klass)
{
	uint64_t x = before * UINT64_C(0x9e3779b97f4a7c15) + step;
	x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + klass;
	x = (x ^ x >> 32) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 29;
}

/* Returns the bucket of a trail, or the empty one where it belongs. */
static uint32_t *bucket(const struct rcore_trails *trails, uint32_t before, uint32_t step,
			uint32_t klass)
{
	size_t mask = trails->table_size - 1;
	for (size_t i = hash(before, step, klass) & mask;; i = (i + 1) & mask) {
		uint32_t *found = &trails->table[i];
		if (!*found)
			return found;
		const struct rcore_trail *trail = &trails->items[*found - 1];
		if (trail->before == before && trail->step == step && trail->klass == klass)
			return found;
	}
}

/* Keeps at least half of the buckets empty. */
static bool grow_table(struct rcore_trails *trails)
{
	if (trails->count * 2 < trails->table_size)
		return true;
	size_t size = trails->table_size ? trails->table_size * 2 : TABLE_SIZE;
	uint32_t *table = calloc(size, sizeof(*table));
	if (!table)
		return false;
	free(trails->table);
	trails->table = table;
	trails->table_size = size;
	for (size_t i = 0; i < trails->count; i++) {
		const struct rcore_trail *trail = &trails->items[i];
		*bucket(trails, trail->before, trail->step, trail->klass) = (uint32_t)i + 1;
	}
	return true;
}

static bool is_full(const struct rcore_trails *trails, uint32_t trail)
{
	return trails->items[trail].depth >= RCORE_TRAIL_DEPTH;
}

/* Returns the trail near the end of `before` with the same step, or NONE. */
static uint32_t find_fold(const struct rcore_trails *trails, uint32_t before, uint32_t step,
			  uint32_t klass)
{
	unsigned distance = FOLD;
	if (before != RCORE_HEAP_NONE && is_full(trails, before))
		distance = RCORE_TRAIL_DEPTH;
	for (unsigned i = 0; i < distance && before != RCORE_HEAP_NONE; i++) {
		const struct rcore_trail *trail = &trails->items[before];
		/* A root's step is of another kind. */
		if (trail->before != RCORE_HEAP_NONE && trail->step == step &&
		    trail->klass == klass)
			return before;
		before = trail->before;
	}
	return RCORE_HEAP_NONE;
}

/* Returns NONE if memory is short. */
static uint32_t follow(struct rcore_trails *trails, uint32_t before, uint32_t step,
		       uint32_t klass)
{
	uint32_t folded = find_fold(trails, before, step, klass);
	if (folded != RCORE_HEAP_NONE)
		return folded;
	if (!grow_table(trails))
		return RCORE_HEAP_NONE;
	uint32_t *found = bucket(trails, before, step, klass);
	if (*found)
		return *found - 1;
	bool is_root = before == RCORE_HEAP_NONE;
	if (!is_root && (trails->count >= RCORE_TRAIL_LIMIT || is_full(trails, before))) {
		trails->is_cut = true;
		return before;
	}
	struct rcore_trail *trail = rcore_push(trails);
	if (!trail)
		return RCORE_HEAP_NONE;
	*trail = (struct rcore_trail){
		.before = before,
		.step = step,
		.klass = klass,
		.depth = is_root ? 1 : trails->items[before].depth + 1,
	};
	*found = (uint32_t)trails->count;
	return *found - 1;
}

static uint32_t common_step(const struct rcore_trail_heap *heap, uint32_t label)
{
	enum rcore_edge_kind kind = rcore_edge_kind(label);
	uint32_t number = rcore_edge_number(label);
	bool is_named = rcore_edge_has_name(kind) && number < heap->paths->heap->name_count;
	return rcore_edge_label(kind, is_named ? heap->name[number] : 0);
}

static uint32_t root_step(const struct rcore_trail_heap *heap,
			  const struct rcore_heap_root *root)
{
	return rcore_edge_label(root->kind, heap->name[root->name]);
}

/* Returns the trail of a node; that of the node before it is known. */
static uint32_t trail_of(struct rcore_trails *trails, const struct rcore_trail_heap *heap,
			 const uint32_t *trail, uint32_t node)
{
	const struct rcore_heap *graph = heap->paths->heap;
	uint32_t before = heap->paths->before[node];
	if (before >= graph->node_count)
		return follow(trails, RCORE_HEAP_NONE,
			      root_step(heap, &graph->roots[before - graph->node_count]),
			      heap->klass[node]);
	return follow(trails, trail[before],
		      common_step(heap, graph->label[heap->paths->edge[node]]),
		      heap->klass[node]);
}

struct rcore_error *rcore_trails_add(struct rcore_trails *trails,
				     const struct rcore_trail_heap *heap, unsigned side,
				     uint32_t *ret)
{
	const struct rcore_heap *graph = heap->paths->heap;
	uint32_t *own = NULL, *trail = ret;
	if (!trail)
		trail = own = rcore_calloc(graph->node_count, sizeof(*own));
	if (!trail)
		return rcore_error_no_memory();
	uint32_t i = 0;
	for (; i < heap->paths->count; i++) {
		uint32_t node = heap->paths->order[i];
		trail[node] = trail_of(trails, heap, trail, node);
		if (trail[node] == RCORE_HEAP_NONE)
			break;
		struct rcore_trail_sum *sum = &trails->items[trail[node]].sides[side];
		sum->count++;
		sum->bytes += rcore_heap_bytes(graph, node);
	}
	free(own);
	return i < heap->paths->count ? rcore_error_no_memory() : NULL;
}

void rcore_trails_deinit(struct rcore_trails *trails)
{
	free(trails->items);
	free(trails->table);
	memset(trails, 0, sizeof(*trails));
}
