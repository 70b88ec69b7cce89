/* SPDX-License-Identifier: MIT */
#include "heap/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int compare_roots(const void *a, const void *b, void *context)
{
	const struct rcore_heap *heap = context;
	const struct rcore_heap_root *x = &heap->roots[*(const uint32_t *)a];
	const struct rcore_heap_root *y = &heap->roots[*(const uint32_t *)b];
	if (x->kind != y->kind)
		return x->kind - y->kind;
	if (x->name != y->name)
		return (x->name > y->name) - (x->name < y->name);
	return (x->node > y->node) - (x->node < y->node);
}

static void add_owner(struct rcore_heap_walk *walk, uint8_t kind, uint32_t name, uint32_t first)
{
	walk->owner_first[walk->owner_count] = first;
	walk->owners[walk->owner_count++] =
		(struct rcore_heap_owner){.kind = kind, .name = name};
}

static void add_target(struct rcore_heap_walk *walk, uint32_t *used, uint32_t node)
{
	walk->owner_target[(*used)++] = node;
}

/* `order` has the roots by kind and name. */
static void fill_owners(struct rcore_heap_walk *walk, const uint32_t *order)
{
	const struct rcore_heap *heap = walk->heap;
	uint32_t used = 0, named = 1 + RCORE_ROOT_KINDS;
	add_owner(walk, 0, 0, used);
	for (uint32_t kind = 0; kind < RCORE_ROOT_KINDS; kind++)
		add_target(walk, &used, heap->node_count + 1 + kind);
	for (size_t i = 0, kind = 0; kind < RCORE_ROOT_KINDS; kind++) {
		add_owner(walk, (uint8_t)kind, 0, used);
		for (uint32_t last = 0; i < heap->root_count; i++) {
			const struct rcore_heap_root *root = &heap->roots[order[i]];
			if (root->kind != kind)
				break;
			if (!walk->owners[kind + 1].roots++ || root->name != last)
				add_target(walk, &used, heap->node_count + named++);
			last = root->name;
		}
	}
	for (size_t i = 0; i < heap->root_count; i++) {
		const struct rcore_heap_root *root = &heap->roots[order[i]];
		const struct rcore_heap_root *before = i ? &heap->roots[order[i - 1]] : NULL;
		if (!before || before->kind != root->kind || before->name != root->name)
			add_owner(walk, root->kind, root->name, used);
		walk->owners[walk->owner_count - 1].roots++;
		add_target(walk, &used, root->node);
	}
	walk->owners[0].roots = (uint32_t)heap->root_count;
	walk->owner_first[walk->owner_count] = used;
}

static bool make_owners(struct rcore_heap_walk *walk)
{
	size_t roots = walk->heap->root_count, owners = 1 + RCORE_ROOT_KINDS + roots;
	uint32_t *order = rcore_calloc(roots, sizeof(*order));
	walk->owners = rcore_calloc(owners, sizeof(*walk->owners));
	walk->owner_first = rcore_calloc(owners, sizeof(*walk->owner_first));
	/* The first node and the kinds refer to at most each owner. */
	walk->owner_target = rcore_calloc(owners + roots, sizeof(*walk->owner_target));
	bool has_memory = order && walk->owners && walk->owner_first && walk->owner_target;
	if (has_memory) {
		for (size_t i = 0; i < roots; i++)
			order[i] = (uint32_t)i;
		qsort_r(order, roots, sizeof(*order), compare_roots, (void *)walk->heap);
		fill_owners(walk, order);
	}
	free(order);
	return has_memory;
}

/*
 * `cursor`, by number, is where the search continues in the edges of a node
 * whose children are being visited. The way back leads over `parent`.
 */
static void visit_all(struct rcore_heap_walk *walk, uint32_t *cursor)
{
	const uint32_t *targets;
	uint32_t current = 0, at, end;
	walk->node[0] = walk->heap->node_count;
	walk->count = 1;
	rcore_heap_walk_edges(walk, walk->node[0], &targets, &at, &end);
	for (;;) {
		while (at < end && walk->number[targets[at]])
			at++;
		if (at < end) {
			uint32_t child = walk->count++;
			walk->node[child] = targets[at];
			walk->number[targets[at]] = child;
			walk->parent[child] = current;
			cursor[current] = at + 1;
			current = child;
			rcore_heap_walk_edges(walk, walk->node[current], &targets, &at, &end);
		} else if (current) {
			current = walk->parent[current];
			rcore_heap_walk_edges(walk, walk->node[current], &targets, &at, &end);
			at = cursor[current];
		} else {
			return;
		}
	}
}

struct rcore_error *rcore_heap_walk_init(const struct rcore_heap *heap,
					 struct rcore_heap_walk *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->heap = heap;
	size_t nodes = heap->node_count + (heap->root_count + 1 + RCORE_ROOT_KINDS);
	if (nodes >= RCORE_HEAP_NONE)
		return rcore_error_create(
			RCORE_ERROR_LIMIT,
			"the heap has %u slots and %zu roots; %u in all is the limit",
			heap->node_count, heap->root_count, RCORE_HEAP_NONE - 1);
	ret->node = rcore_calloc(nodes, sizeof(*ret->node));
	ret->number = rcore_calloc(nodes, sizeof(*ret->number));
	ret->parent = rcore_calloc(nodes, sizeof(*ret->parent));
	uint32_t *cursor = rcore_calloc(nodes, sizeof(*cursor));
	bool has_memory = ret->node && ret->number && ret->parent && cursor && make_owners(ret);
	if (has_memory)
		visit_all(ret, cursor);
	free(cursor);
	if (has_memory)
		return NULL;
	rcore_heap_walk_deinit(ret);
	return rcore_error_no_memory();
}

void rcore_heap_walk_deinit(struct rcore_heap_walk *walk)
{
	free(walk->owners);
	free(walk->owner_first);
	free(walk->owner_target);
	free(walk->node);
	free(walk->number);
	free(walk->parent);
	memset(walk, 0, sizeof(*walk));
}
