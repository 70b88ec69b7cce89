/* SPDX-License-Identifier: MIT */
#include "heap/retained.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* The tree downwards; 0: none, because vertex 0 is no child. */
struct children {
	uint32_t *first, *next;
};

static bool find_children(const struct rcore_dominators *dominators, struct children *ret)
{
	ret->first = rcore_calloc(dominators->count, sizeof(*ret->first));
	ret->next = rcore_calloc(dominators->count, sizeof(*ret->next));
	if (!ret->first || !ret->next)
		return false;
	for (uint32_t number = dominators->count; number-- > 1;) {
		uint32_t above = dominators->dominator[number];
		ret->next[number] = ret->first[above];
		ret->first[above] = number;
	}
	return true;
}

/* A walk over the tree of dominators. */
struct adding {
	const struct rcore_heap_walk *walk;
	const struct rcore_dominators *dominators;
	const uint32_t *group;
	struct rcore_heap_group *groups;
	uint32_t *open; /* by group: how many of its nodes the walk is below */
};

static uint32_t group_of(const struct adding *adding, uint32_t number)
{
	uint32_t node = adding->walk->node[number];
	return node < adding->walk->heap->node_count ? adding->group[node] : RCORE_HEAP_NONE;
}

static void enter(struct adding *adding, uint32_t number)
{
	uint32_t group = group_of(adding, number);
	if (group == RCORE_HEAP_NONE)
		return;
	if (!adding->open[group]++)
		adding->groups[group].retained += adding->dominators->retained[number];
	adding->groups[group].count++;
}

/*
 * A node's own bytes are what it retains without what its children retain; this
 * takes less time than to look for its page.
 */
static void add_bytes(struct adding *adding)
{
	const struct rcore_dominators *dominators = adding->dominators;
	for (uint32_t number = 1; number < dominators->count; number++) {
		uint32_t group = group_of(adding, number);
		uint32_t above = group_of(adding, dominators->dominator[number]);
		if (group != RCORE_HEAP_NONE)
			adding->groups[group].bytes += dominators->retained[number];
		if (above != RCORE_HEAP_NONE)
			adding->groups[above].bytes -= dominators->retained[number];
	}
}

static void leave(struct adding *adding, uint32_t number)
{
	uint32_t group = group_of(adding, number);
	if (group != RCORE_HEAP_NONE)
		adding->open[group]--;
}

static void add_all(struct adding *adding, const struct children *children)
{
	uint32_t number = 0;
	for (;;) {
		enter(adding, number);
		if (children->first[number]) {
			number = children->first[number];
			continue;
		}
		while (number && !children->next[number]) {
			leave(adding, number);
			number = adding->dominators->dominator[number];
		}
		if (!number)
			return;
		leave(adding, number);
		number = children->next[number];
	}
}

struct rcore_error *rcore_heap_group_retained(const struct rcore_heap_walk *walk,
					      const struct rcore_dominators *dominators,
					      const uint32_t *group, uint32_t group_count,
					      struct rcore_heap_group *ret)
{
	struct children children = {0};
	struct adding adding = {
		.walk = walk,
		.dominators = dominators,
		.group = group,
		.groups = ret,
		.open = rcore_calloc(group_count, sizeof(*adding.open)),
	};
	memset(ret, 0, group_count * sizeof(*ret));
	bool has_memory = adding.open && find_children(dominators, &children);
	if (has_memory) {
		add_bytes(&adding);
		add_all(&adding, &children);
	}
	free(children.first);
	free(children.next);
	free(adding.open);
	return has_memory ? NULL : rcore_error_no_memory();
}

static bool is_before(const struct rcore_heap_walk *walk,
		      const struct rcore_dominators *dominators, uint32_t a, uint32_t b)
{
	uint64_t x = dominators->retained[walk->number[a]];
	uint64_t y = dominators->retained[walk->number[b]];
	return x != y ? x > y : a < b;
}

/* Whether at least two of its group, one below the other, retain a node. */
static bool is_in_chain(const struct rcore_heap_walk *walk,
			const struct rcore_dominators *dominators, const uint32_t *group,
			uint32_t node)
{
	uint32_t number = walk->number[node], above = node;
	if (!group || group[node] == RCORE_HEAP_NONE)
		return false;
	for (int i = 0; i < 2; i++) {
		number = dominators->dominator[number];
		above = walk->node[number];
		if (!number || above >= walk->heap->node_count || group[above] != group[node])
			return false;
	}
	return true;
}

size_t rcore_heap_top_retained(const struct rcore_heap_walk *walk,
			       const struct rcore_dominators *dominators, const uint32_t *group,
			       const struct rcore_heap_filter *filter, size_t limit,
			       uint32_t *ret)
{
	size_t count = 0;
	uint64_t least = 0; /* of the nodes in `ret` */
	for (uint32_t number = 1; limit && number < dominators->count; number++) {
		/* Only a few of millions pass this. */
		if (count == limit && dominators->retained[number] < least)
			continue;
		uint32_t node = walk->node[number];
		if (node >= walk->heap->node_count)
			continue;
		if (count == limit && !is_before(walk, dominators, node, ret[count - 1]))
			continue;
		if ((filter && !filter->selects(filter->context, node)) ||
		    is_in_chain(walk, dominators, group, node))
			continue;
		if (count < limit)
			count++;
		size_t at = count - 1;
		for (; at && is_before(walk, dominators, node, ret[at - 1]); at--)
			ret[at] = ret[at - 1];
		ret[at] = node;
		least = dominators->retained[walk->number[ret[count - 1]]];
	}
	return count;
}
