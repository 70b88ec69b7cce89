/* SPDX-License-Identifier: MIT */
#include "heap/fold.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"

enum { FIRST_SIZE = 1 << 12 };

struct folding {
	const struct rcore_heap_walk *walk;
	const struct rcore_dominators *dominators;
	const uint32_t *group;
	uint32_t groups;
	struct rcore_fold *fold;
	/* A hash table of indices + 1, by what is above and the title. */
	uint32_t *table;
	size_t table_size;
	uint32_t *place; /* by number of the walk */
};

static uint32_t title_of(const struct folding *folding, uint32_t number)
{
	uint32_t node = folding->walk->node[number];
	uint32_t slots = folding->walk->heap->node_count;
	return node < slots ? folding->group[node] : folding->groups + (node - slots);
}

static size_t slot_of(const struct folding *folding, uint32_t above, uint32_t title)
{
	uint64_t hash = ((uint64_t)above << 32 | title) * UINT64_C(0x9e3779b97f4a7c15);
	size_t slot = (size_t)(hash >> 32) & (folding->table_size - 1);
	for (; folding->table[slot]; slot = (slot + 1) & (folding->table_size - 1)) {
		const struct rcore_fold_node *node =
			&folding->fold->items[folding->table[slot] - 1];
		if (node->above == above && node->title == title)
			break;
	}
	return slot;
}

/* Twice as large as what is in it, at least. */
static bool make_room(struct folding *folding)
{
	size_t wanted = folding->table_size ? folding->table_size * 2 : FIRST_SIZE;
	if (folding->fold->count * 2 < folding->table_size)
		return true;
	free(folding->table);
	folding->table = calloc(wanted, sizeof(*folding->table));
	folding->table_size = wanted;
	for (uint32_t i = 1; folding->table && i < folding->fold->count; i++) {
		const struct rcore_fold_node *node = &folding->fold->items[i];
		folding->table[slot_of(folding, node->above, node->title)] = i + 1;
	}
	return folding->table;
}

/* Returns the node below `above` with this title; 0: memory is short. */
static uint32_t find(struct folding *folding, uint32_t above, uint32_t title)
{
	struct rcore_fold *fold = folding->fold;
	const struct rcore_fold_node *upper = &fold->items[above];
	if (above && (upper->title == title || upper->depth == RCORE_FOLD_DEPTH))
		return above;
	if (!make_room(folding))
		return 0;
	size_t slot = slot_of(folding, above, title);
	if (folding->table[slot])
		return folding->table[slot] - 1;
	uint32_t depth = upper->depth + 1;
	struct rcore_fold_node *node = rcore_push(fold);
	if (!node)
		return 0;
	*node = (struct rcore_fold_node){.above = above, .title = title, .depth = depth};
	folding->table[slot] = (uint32_t)fold->count;
	return (uint32_t)fold->count - 1;
}

/* A dominator has a lower number than what it dominates. */
static bool add_all(struct folding *folding)
{
	const struct rcore_dominators *dominators = folding->dominators;
	struct rcore_fold *fold = folding->fold;
	struct rcore_fold_node *top = rcore_push(fold);
	if (!top)
		return false;
	top->title = folding->groups;
	top->retained = dominators->count ? dominators->retained[0] : 0;
	for (uint32_t number = 1; number < dominators->count; number++) {
		uint32_t above = folding->place[dominators->dominator[number]];
		uint32_t title = title_of(folding, number);
		uint32_t place = find(folding, above, title);
		if (!place)
			return false;
		struct rcore_fold_node *node = &fold->items[place];
		folding->place[number] = place;
		node->count += title < folding->groups;
		node->bytes += dominators->retained[number];
		fold->items[above].bytes -= dominators->retained[number];
		if (place != above)
			node->retained += dominators->retained[number];
	}
	top = fold->items;
	top->bytes += top->retained;
	return true;
}

/*
 * What is above a node retains at least as much and has a lower index, so it is
 * kept, too.
 */
static bool prune(struct rcore_fold *fold, size_t limit)
{
	if (fold->count <= limit)
		return true;
	uint64_t *sizes = rcore_calloc(fold->count, sizeof(*sizes));
	uint32_t *place = rcore_calloc(fold->count, sizeof(*place));
	size_t kept = 0, equal = 0;
	for (size_t i = 0; sizes && i < fold->count; i++)
		sizes[i] = fold->items[i].retained;
	bool has_memory = sizes && place;
	if (has_memory) {
		qsort(sizes, fold->count, sizeof(*sizes), rcore_descending);
		uint64_t least = sizes[limit - 1];
		for (size_t i = 0; i < limit; i++)
			equal += sizes[i] == least;
		for (size_t i = 0; i < fold->count; i++) {
			struct rcore_fold_node node = fold->items[i];
			if (node.retained < least || (node.retained == least && !equal))
				continue;
			equal -= node.retained == least;
			node.above = place[node.above];
			place[i] = (uint32_t)kept;
			fold->items[kept++] = node;
		}
		fold->left_out = fold->count - kept;
		fold->count = kept;
	}
	free(sizes);
	free(place);
	return has_memory;
}

struct rcore_error *rcore_fold_init(const struct rcore_heap_walk *walk,
				    const struct rcore_dominators *dominators,
				    const uint32_t *group, uint32_t groups, size_t limit,
				    struct rcore_fold *ret)
{
	*ret = (struct rcore_fold){0};
	struct folding folding = {
		.walk = walk,
		.dominators = dominators,
		.group = group,
		.groups = groups,
		.fold = ret,
		.place = rcore_calloc(dominators->count, sizeof(*folding.place)),
	};
	bool has_memory = folding.place && add_all(&folding) && prune(ret, limit ? limit : 1);
	free(folding.table);
	free(folding.place);
	if (has_memory)
		return NULL;
	rcore_fold_deinit(ret);
	return rcore_error_no_memory();
}

void rcore_fold_deinit(struct rcore_fold *fold)
{
	free(fold->items);
	*fold = (struct rcore_fold){0};
}
