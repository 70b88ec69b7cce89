/* SPDX-License-Identifier: MIT */
#include "profile/tree.h"

#include <stdlib.h>
#include <string.h>

/* A node as the set of nodes stores it. */
struct edge {
	uint32_t parent, function;
};

/* Fills `map` from numbers of the profile's nodes to numbers of the tree's. */
static bool add_edges(const struct rcore_profile *profile, struct rcore_record_set *edges,
		      uint32_t *map)
{
	const struct edge root = {0, 0};
	if (!rcore_record_set_add(edges, &root, &map[0]))
		return false;
	for (uint32_t i = 1; i < profile->nodes.count; i++) {
		const struct rcore_profile_node *node = rcore_profile_node_at(profile, i);
		const struct edge edge = {
			map[node->parent],
			rcore_profile_frame_at(profile, node->frame)->function,
		};
		if (!rcore_record_set_add(edges, &edge, &map[i]))
			return false;
	}
	return true;
}

static void add_selves(struct rcore_tree *tree, const struct rcore_totals *totals,
		       enum rcore_measure measure, const uint32_t *map)
{
	for (size_t i = 0; i < totals->keys.count; i++) {
		struct rcore_tree_node *node =
			&tree->items[map[rcore_totals_key(totals, i)->node]];
		for (int side = 0; side < RCORE_SIDES; side++)
			node->self[side] +=
				rcore_measured(&totals->items[i].sides[side], measure);
	}
}

/* Children come after their parents. */
static void add_totals(struct rcore_tree *tree)
{
	for (size_t i = tree->count; i-- > 0;) {
		struct rcore_tree_node *node = &tree->items[i];
		struct rcore_tree_node *parent = &tree->items[node->parent];
		for (int side = 0; side < RCORE_SIDES; side++) {
			node->total[side] += node->self[side];
			if (i)
				parent->total[side] += node->total[side];
		}
	}
	for (size_t i = 1; i < tree->count; i++) {
		struct rcore_tree_node *node = &tree->items[i];
		node->depth = tree->items[node->parent].depth + 1;
		if (node->depth > tree->max_depth)
			tree->max_depth = node->depth;
	}
}

/* Orders by label, then by first occurrence. */
static int compare(const void *a, const void *b, void *opaque)
{
	const struct rcore_tree *tree = opaque;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(rcore_tree_label(tree, x), rcore_tree_label(tree, y));
	return order ? order : (x > y) - (x < y);
}

/*
 * Goes from the last node to the first and puts each before its siblings.
 * Leaves out nodes that took no time.
 */
static bool link_children(struct rcore_tree *tree)
{
	uint32_t *order = malloc(tree->count * sizeof(*order));
	if (!order)
		return false;
	for (uint32_t i = 0; i < tree->count; i++)
		order[i] = i;
	qsort_r(order, tree->count, sizeof(*order), compare, tree);
	for (size_t i = tree->count; i-- > 0;) {
		struct rcore_tree_node *node = &tree->items[order[i]];
		struct rcore_tree_node *parent = &tree->items[node->parent];
		if (!order[i] || (!node->total[RCORE_SIDE_NEW] && !node->total[RCORE_SIDE_OLD]))
			continue;
		node->next_sibling = parent->first_child;
		parent->first_child = order[i];
	}
	free(order);
	return true;
}

static bool build(struct rcore_tree *tree, const struct rcore_totals *totals,
		  enum rcore_measure measure, struct rcore_record_set *edges, uint32_t *map)
{
	if (!add_edges(totals->profile, edges, map))
		return false;
	tree->count = edges->count;
	tree->items = calloc(tree->count, sizeof(*tree->items));
	if (!tree->items)
		return false;
	for (size_t i = 0; i < tree->count; i++) {
		const struct edge *edge = (const struct edge *)edges->items + i;
		tree->items[i].parent = edge->parent;
		tree->items[i].function = edge->function;
	}
	add_selves(tree, totals, measure, map);
	add_totals(tree);
	return link_children(tree);
}

struct rcore_error *rcore_tree_new(const struct rcore_totals *totals,
				   enum rcore_measure measure, struct rcore_tree **ret)
{
	struct rcore_record_set edges = {.record_size = sizeof(struct edge)};
	struct rcore_tree *tree = calloc(1, sizeof(*tree));
	uint32_t *map = calloc(totals->profile->nodes.count, sizeof(*map));
	if (tree)
		tree->profile = totals->profile;
	bool is_built = tree && map && build(tree, totals, measure, &edges, map);
	rcore_record_set_deinit(&edges);
	free(map);
	if (is_built) {
		*ret = tree;
		return NULL;
	}
	rcore_tree_free(tree);
	return rcore_error_no_memory();
}

void rcore_tree_free(struct rcore_tree *tree)
{
	if (!tree)
		return;
	free(tree->items);
	free(tree);
}

uint32_t rcore_tree_next(const struct rcore_tree *tree, uint32_t node)
{
	const struct rcore_tree_node *items = tree->items;
	if (items[node].first_child)
		return items[node].first_child;
	while (node && !items[node].next_sibling)
		node = items[node].parent;
	return items[node].next_sibling;
}

const char *rcore_tree_label(const struct rcore_tree *tree, uint32_t node)
{
	const struct rcore_profile_function *function =
		rcore_profile_function_at(tree->profile, tree->items[node].function);
	const char *label = rcore_profile_text(tree->profile, function->label);
	return label[0] ? label : "(unknown)";
}
