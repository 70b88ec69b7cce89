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

/* The tree while it is built; its nodes are still edges. */
struct build {
	const struct rcore_totals *totals;
	enum rcore_measure measure;
	uint64_t least;
	struct rcore_record_set edges;
	uint32_t *map;               /* of the profile's nodes to edges */
	uint64_t *sums[RCORE_SIDES]; /* of edges; NULL: all are 0 */
	uint32_t *nodes;             /* of edges to the tree's nodes; 0: none */
};

/* Adds up the times of all nodes. Returns false if memory is short. */
static bool add_up(struct build *build, enum rcore_side side)
{
	const struct rcore_totals *totals = build->totals;
	const struct edge *edges = build->edges.items;
	if (!totals->capacities[side])
		return true;
	uint64_t *sums = calloc(build->edges.count, sizeof(*sums));
	build->sums[side] = sums;
	if (!sums)
		return false;
	for (size_t i = 0; i < totals->keys.count; i++)
		sums[build->map[rcore_totals_key(totals, i)->node]] +=
			rcore_measured(rcore_totals_amounts(totals, i, side), build->measure);
	/* Children come after their parents. */
	for (size_t i = build->edges.count; i-- > 1;)
		sums[edges[i].parent] += sums[i];
	return true;
}

static uint64_t sum_of(const struct build *build, size_t edge, enum rcore_side side)
{
	return build->sums[side] ? build->sums[side][edge] : 0;
}

/*
 * Makes the nodes that have enough time. Those that have it have parents that
 * have it.
 */
static bool make_nodes(struct build *build, struct rcore_tree *tree)
{
	const struct edge *edges = build->edges.items;
	const size_t count = build->edges.count;
	build->nodes = calloc(count, sizeof(*build->nodes));
	if (!build->nodes)
		return false;
	tree->count = 1;
	for (size_t i = 1; i < count; i++) {
		uint64_t was = sum_of(build, i, RCORE_SIDE_OLD);
		uint64_t is = sum_of(build, i, RCORE_SIDE_NEW);
		if ((was > is ? was : is) >= build->least)
			build->nodes[i] = (uint32_t)tree->count++;
		else
			tree->left_out += was || is;
	}
	tree->items = calloc(tree->count, sizeof(*tree->items));
	if (!tree->items)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (i && !build->nodes[i])
			continue;
		struct rcore_tree_node *node = &tree->items[build->nodes[i]];
		node->parent = build->nodes[edges[i].parent];
		node->function = edges[i].function;
		node->depth = i ? tree->items[node->parent].depth + 1 : 0;
		if (node->depth > tree->max_depth)
			tree->max_depth = node->depth;
		for (int side = 0; side < RCORE_SIDES; side++)
			node->total[side] = sum_of(build, i, side);
	}
	return true;
}

static void add_selves(const struct build *build, struct rcore_tree *tree)
{
	for (size_t i = 0; i < build->totals->keys.count; i++) {
		uint32_t edge = build->map[rcore_totals_key(build->totals, i)->node];
		if (edge && !build->nodes[edge])
			continue;
		for (int side = 0; side < RCORE_SIDES; side++)
			tree->items[build->nodes[edge]].self[side] += rcore_measured(
				rcore_totals_amounts(build->totals, i, side), build->measure);
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

/* Goes from the last node to the first and puts each before its siblings. */
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
		if (!order[i])
			continue;
		node->next_sibling = parent->first_child;
		parent->first_child = order[i];
	}
	free(order);
	return true;
}

static bool make(struct build *build, struct rcore_tree *tree)
{
	bool is_made =
		build->map && add_edges(build->totals->profile, &build->edges, build->map);
	for (int side = 0; is_made && side < RCORE_SIDES; side++)
		is_made = add_up(build, side);
	if (!is_made || !make_nodes(build, tree))
		return false;
	add_selves(build, tree);
	return link_children(tree);
}

struct rcore_error *rcore_tree_new(const struct rcore_totals *totals,
				   enum rcore_measure measure, uint64_t least,
				   struct rcore_tree **ret)
{
	struct build build = {
		.totals = totals,
		.measure = measure,
		.least = least ? least : 1,
		.edges.record_size = sizeof(struct edge),
		.map = calloc(totals->profile->nodes.count, sizeof(*build.map)),
	};
	struct rcore_tree *tree = calloc(1, sizeof(*tree));
	if (tree)
		tree->profile = totals->profile;
	bool is_made = tree && make(&build, tree);
	rcore_record_set_deinit(&build.edges);
	for (int side = 0; side < RCORE_SIDES; side++)
		free(build.sums[side]);
	free(build.nodes);
	free(build.map);
	if (is_made) {
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
