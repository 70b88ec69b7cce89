/* SPDX-License-Identifier: MIT */
#include "heap/dominators.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/*
 * Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph"
 * (1979), in the simple version: O(edges log nodes) for any graph. A vertex is
 * its number in depth-first order.
 *
 * Vertices are processed from the last to the first. Those from `linked` on are
 * done: they are linked into a forest in which `ancestor` leads towards the
 * roots. Three arrays serve two purposes each:
 *
 * - ancestor[v] of a vertex that is not linked is its parent in the depth-first
 *   tree.
 * - label[v] of a vertex that is not linked would be v itself, so the head of
 *   v's bucket is in its place: a list of descendants of v. The last child of v
 *   empties it before v is linked.
 * - dominator[v] is not known while v is in a bucket. Meanwhile, it is the next
 *   vertex in that bucket.
 */
struct state {
	uint32_t *ancestor, *semi, *label, *dominator;
	uint32_t linked;
	/* The vertices whose ancestor compress() changes. */
	uint32_t *stack;
	size_t depth, capacity;
	bool is_short; /* memory for `stack` is short */
};

/*
 * Edges by their targets: those into vertex V come from source[first[V]] to
 * source[first[V + 1] - 1]. Edges of the depth-first tree are left out, because
 * a vertex's parent is its first candidate anyway. So are all edges into a
 * child of vertex 0, which cannot have a better candidate.
 */
struct sources {
	uint32_t *first, *source;
};

static bool is_needed(const struct rcore_heap_walk *walk, uint32_t source, uint32_t target)
{
	return walk->parent[target] && walk->parent[target] != source && target != source;
}

static bool find_sources(const struct rcore_heap_walk *walk, struct sources *ret)
{
	const uint32_t *targets;
	uint32_t at, end;
	ret->first = rcore_calloc((size_t)walk->count + 1, sizeof(*ret->first));
	if (!ret->first)
		return false;
	for (uint32_t from = 0; from < walk->count; from++) {
		rcore_heap_walk_edges(walk, walk->node[from], &targets, &at, &end);
		for (; at < end; at++) {
			uint32_t to = walk->number[targets[at]];
			if (is_needed(walk, from, to))
				ret->first[to + 1]++;
		}
	}
	for (uint32_t to = 0; to < walk->count; to++)
		ret->first[to + 1] += ret->first[to];
	ret->source = rcore_calloc(ret->first[walk->count], sizeof(*ret->source));
	if (!ret->source)
		return false;
	/* Moves each first[V] to the end of V's row: the start of the next. */
	for (uint32_t from = 0; from < walk->count; from++) {
		rcore_heap_walk_edges(walk, walk->node[from], &targets, &at, &end);
		for (; at < end; at++) {
			uint32_t to = walk->number[targets[at]];
			if (is_needed(walk, from, to))
				ret->source[ret->first[to]++] = from;
		}
	}
	memmove(&ret->first[1], &ret->first[0], walk->count * sizeof(*ret->first));
	ret->first[0] = 0;
	return true;
}

/* Makes the root of a vertex's tree the ancestor of all on the way to it. */
static bool compress(struct state *state, uint32_t vertex)
{
	uint32_t *ancestor = state->ancestor, *label = state->label;
	state->depth = 0;
	for (; ancestor[vertex] >= state->linked; vertex = ancestor[vertex]) {
		if (!rcore_grow((void **)&state->stack, state->depth, &state->capacity,
				sizeof(*state->stack)))
			return false;
		state->stack[state->depth++] = vertex;
	}
	while (state->depth) {
		vertex = state->stack[--state->depth];
		uint32_t above = ancestor[vertex];
		if (state->semi[label[above]] < state->semi[label[vertex]])
			label[vertex] = label[above];
		ancestor[vertex] = ancestor[above];
	}
	return true;
}

/*
 * Returns the vertex with the lowest semidominator on the way from `vertex` to
 * the root of its tree, excluding the root.
 */
static uint32_t evaluate(struct state *state, uint32_t vertex)
{
	if (vertex < state->linked)
		return vertex;
	if (state->ancestor[vertex] >= state->linked && !compress(state, vertex))
		state->is_short = true;
	return state->label[vertex];
}

static void find_dominators(struct state *state, const struct sources *sources, uint32_t count)
{
	uint32_t *semi = state->semi, *label = state->label, *dominator = state->dominator;
	state->linked = count;
	for (uint32_t vertex = count; vertex-- > 1 && !state->is_short;) {
		uint32_t parent = state->ancestor[vertex], best = parent;
		for (uint32_t i = sources->first[vertex]; i < sources->first[vertex + 1]; i++) {
			uint32_t low = evaluate(state, sources->source[i]);
			if (low >= state->linked)
				low = semi[low];
			if (low < best)
				best = low;
		}
		semi[vertex] = best;
		label[vertex] = vertex;
		state->linked = vertex;
		dominator[vertex] = label[best];
		label[best] = vertex;
		for (uint32_t next, in = label[parent]; in; in = next) {
			next = dominator[in];
			uint32_t low = evaluate(state, in);
			dominator[in] = semi[low] < semi[in] ? low : parent;
		}
		label[parent] = 0;
	}
	dominator[0] = 0;
	for (uint32_t vertex = 1; vertex < count && !state->is_short; vertex++)
		if (dominator[vertex] != semi[vertex])
			dominator[vertex] = dominator[dominator[vertex]];
}

static bool compute(struct rcore_heap_walk *walk, struct rcore_dominators *ret)
{
	struct sources sources = {0};
	struct state state = {
		.semi = rcore_calloc(walk->count, sizeof(uint32_t)),
		.label = rcore_calloc(walk->count, sizeof(uint32_t)),
		.dominator = rcore_calloc(walk->count, sizeof(uint32_t)),
	};
	bool is_done =
		state.semi && state.label && state.dominator && find_sources(walk, &sources);
	state.ancestor = walk->parent;
	walk->parent = NULL;
	if (is_done)
		find_dominators(&state, &sources, walk->count);
	free(sources.first);
	free(sources.source);
	free(state.ancestor);
	free(state.semi);
	free(state.label);
	free(state.stack);
	ret->dominator = state.dominator;
	return is_done && !state.is_short;
}

static void add_bytes(const struct rcore_heap_walk *walk, uint64_t *bytes)
{
	const struct rcore_heap *heap = walk->heap;
	for (size_t i = 0; i < heap->span_count; i++) {
		const struct rcore_heap_span *span = &heap->spans[i];
		for (uint32_t slot = 0; slot < span->slot_count; slot++) {
			uint32_t node = span->first_node + slot;
			if (heap->extra[node] != UINT32_MAX)
				bytes[walk->number[node]] = span->slot_size + heap->extra[node];
		}
	}
	for (size_t i = 0; i < heap->large_count; i++)
		bytes[walk->number[heap->large[i].node]] =
			rcore_heap_bytes(heap, heap->large[i].node);
	/* Unreachable nodes have the number 0, too. */
	bytes[0] = 0;
}

struct rcore_error *rcore_dominators_init(struct rcore_heap_walk *walk,
					  struct rcore_dominators *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->count = walk->count;
	if (compute(walk, ret))
		ret->retained = rcore_calloc(ret->count, sizeof(*ret->retained));
	if (!ret->retained) {
		rcore_dominators_deinit(ret);
		return rcore_error_no_memory();
	}
	add_bytes(walk, ret->retained);
	for (uint32_t number = ret->count; number-- > 1;)
		ret->retained[ret->dominator[number]] += ret->retained[number];
	return NULL;
}

void rcore_dominators_deinit(struct rcore_dominators *dominators)
{
	free(dominators->dominator);
	free(dominators->retained);
	memset(dominators, 0, sizeof(*dominators));
}
