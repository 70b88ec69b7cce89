/* SPDX-License-Identifier: MIT */
#include "heap/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* In paths->edge of a node that has no path yet. */
enum { NO_GOAL, GOAL };

static bool is_conservative(const struct rcore_heap *heap, uint32_t edge)
{
	return rcore_edge_kind(heap->label[edge]) == RCORE_EDGE_CONSERVATIVE;
}

static void add(struct rcore_heap_paths *paths, uint32_t node, uint32_t before, uint32_t edge)
{
	if (paths->before[node] == RCORE_HEAP_NONE) {
		paths->missing -= paths->edge[node] == GOAL;
		paths->before[node] = before;
		paths->edge[node] = edge;
		paths->order[paths->count++] = node;
		return;
	}
	/* The node before it may refer to it again, and for certain. */
	if (paths->before[node] == before && edge != RCORE_HEAP_NONE &&
	    is_conservative(paths->heap, paths->edge[node]) &&
	    !is_conservative(paths->heap, edge))
		paths->edge[node] = edge;
}

static void add_roots(struct rcore_heap_paths *paths, bool conservative)
{
	const struct rcore_heap *heap = paths->heap;
	for (uint32_t kind = 0; kind < RCORE_ROOT_KINDS; kind++)
		for (size_t i = 0; i < heap->root_count; i++)
			if (heap->roots[i].kind == kind &&
			    heap->roots[i].is_conservative == conservative)
				add(paths, heap->roots[i].node, heap->node_count + (uint32_t)i,
				    RCORE_HEAP_NONE);
}

/* Goes on from the nodes of paths->order from `next` on. */
static void walk(struct rcore_heap_paths *paths, uint32_t next, bool conservative)
{
	const struct rcore_heap *heap = paths->heap;
	for (; next < paths->count && paths->missing; next++) {
		uint32_t node = paths->order[next], end = heap->first_edge[node + 1];
		for (uint32_t edge = heap->first_edge[node]; edge < end; edge++)
			if (conservative || !is_conservative(heap, edge))
				add(paths, heap->target[edge], node, edge);
	}
}

/* Adds what conservative edges of the nodes found so far lead to. */
static void cross_edges(struct rcore_heap_paths *paths)
{
	const struct rcore_heap *heap = paths->heap;
	for (uint32_t i = 0; i < paths->certain && paths->missing; i++) {
		uint32_t node = paths->order[i], end = heap->first_edge[node + 1];
		for (uint32_t edge = heap->first_edge[node]; edge < end; edge++)
			if (is_conservative(heap, edge))
				add(paths, heap->target[edge], node, edge);
	}
}

static void find_all(struct rcore_heap_paths *paths)
{
	add_roots(paths, false);
	walk(paths, 0, false);
	paths->certain = paths->count;
	if (!paths->missing)
		return;
	cross_edges(paths);
	add_roots(paths, true);
	walk(paths, paths->certain, true);
}

static struct rcore_error *allocate(const struct rcore_heap *heap, struct rcore_heap_paths *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->heap = heap;
	if (heap->node_count + heap->root_count >= RCORE_HEAP_NONE)
		return rcore_error_create(
			RCORE_ERROR_LIMIT,
			"the heap has %u slots and %zu roots; %u in all is the limit",
			heap->node_count, heap->root_count, RCORE_HEAP_NONE - 1);
	ret->before = rcore_calloc(heap->node_count, sizeof(*ret->before));
	ret->edge = rcore_calloc(heap->node_count, sizeof(*ret->edge));
	ret->order = rcore_calloc(heap->node_count, sizeof(*ret->order));
	if (!ret->before || !ret->edge || !ret->order) {
		rcore_heap_paths_deinit(ret);
		return rcore_error_no_memory();
	}
	memset(ret->before, 0xff, heap->node_count * sizeof(*ret->before));
	return NULL;
}

struct rcore_error *rcore_heap_paths_init(const struct rcore_heap *heap,
					  struct rcore_heap_paths *ret)
{
	struct rcore_error *err = allocate(heap, ret);
	if (err)
		return err;
	ret->missing = SIZE_MAX;
	find_all(ret);
	return NULL;
}

struct rcore_error *rcore_heap_paths_to(const struct rcore_heap *heap, const uint32_t *nodes,
					size_t count, struct rcore_heap_paths *ret)
{
	struct rcore_error *err = allocate(heap, ret);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		ret->missing += ret->edge[nodes[i]] == NO_GOAL;
		ret->edge[nodes[i]] = GOAL;
	}
	find_all(ret);
	return NULL;
}

void rcore_heap_paths_deinit(struct rcore_heap_paths *paths)
{
	free(paths->before);
	free(paths->edge);
	free(paths->order);
	memset(paths, 0, sizeof(*paths));
}

/* Returns the last node of the way back and its distance from `node`. */
static uint32_t first_node(const struct rcore_heap_paths *paths, uint32_t node,
			   size_t *distance)
{
	for (*distance = 0; paths->before[node] < paths->heap->node_count; ++*distance)
		node = paths->before[node];
	return node;
}

/* Returns the root of a node's path; NULL: the node is unreachable. */
static const struct rcore_heap_root *path_root(const struct rcore_heap_paths *paths,
					       uint32_t node)
{
	size_t distance;
	if (paths->before[node] == RCORE_HEAP_NONE)
		return NULL;
	uint32_t first = first_node(paths, node, &distance);
	return &paths->heap->roots[paths->before[first] - paths->heap->node_count];
}

struct rcore_error *rcore_heap_path_init(const struct rcore_heap_paths *paths, uint32_t node,
					 struct rcore_heap_path *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->root = path_root(paths, node);
	if (!ret->root)
		return NULL;
	size_t distance;
	first_node(paths, node, &distance);
	ret->count = distance + 1;
	ret->steps = rcore_calloc(ret->count, sizeof(*ret->steps));
	if (!ret->steps)
		return rcore_error_no_memory();
	for (size_t i = ret->count; i-- > 0; node = paths->before[node]) {
		ret->steps[i].node = node;
		if (i)
			ret->steps[i].label = paths->heap->label[paths->edge[node]];
	}
	return NULL;
}

void rcore_heap_path_deinit(struct rcore_heap_path *path)
{
	free(path->steps);
	memset(path, 0, sizeof(*path));
}
