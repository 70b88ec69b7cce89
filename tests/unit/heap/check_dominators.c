/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "heap/fold.h"
#include "heap/path.h"
#include "heap/retained.h"
#include "random_heap.h"
#include "suite.h"

enum { GRAPHS = 1000, MOST_NODES = 40, DEEP = 1000000 };

static uint64_t seed;

/*
 * Marks what is reachable without node `without`, or without the roots that
 * belong to `owner`; either may be NULL or NONE. Returns its bytes.
 */
static uint64_t reach(const struct rcore_heap *heap, uint32_t without,
		      const struct rcore_heap_owner *owner, bool is_kind, bool *ret)
{
	uint64_t bytes = 0;
	bool has_changed = true;
	memset(ret, 0, heap->node_count);
	for (size_t i = 0; i < heap->root_count; i++) {
		const struct rcore_heap_root *root = &heap->roots[i];
		bool is_owned = owner && root->kind == owner->kind &&
				(is_kind || root->name == owner->name);
		if (root->node != without && !is_owned)
			ret[root->node] = true;
	}
	while (has_changed) {
		has_changed = false;
		for (uint32_t node = 0; node < heap->node_count; node++)
			for (uint32_t edge = heap->first_edge[node];
			     ret[node] && edge < heap->first_edge[node + 1]; edge++) {
				uint32_t target = heap->target[edge];
				has_changed |= !ret[target] && target != without;
				ret[target] |= target != without;
			}
	}
	for (uint32_t node = 0; node < heap->node_count; node++)
		bytes += ret[node] ? rcore_heap_bytes(heap, node) : 0;
	return bytes;
}

static void check_owners(const struct rcore_heap_walk *walk,
			 const struct rcore_dominators *dominators, uint64_t all)
{
	const struct rcore_heap *heap = walk->heap;
	bool reached[MOST_NODES];
	ck_assert_uint_eq(dominators->retained[0], all);
	for (uint32_t i = 1; i < walk->owner_count; i++) {
		uint64_t rest = reach(heap, RCORE_HEAP_NONE, &walk->owners[i],
				      i <= RCORE_ROOT_KINDS, reached);
		uint32_t number = walk->number[heap->node_count + i];
		ck_assert_uint_ne(number, 0);
		ck_assert_uint_eq(dominators->retained[number], all - rest);
	}
}

static void check_nodes(const struct rcore_heap_walk *walk,
			const struct rcore_dominators *dominators, uint64_t all,
			const bool *reached)
{
	bool rest[MOST_NODES];
	for (uint32_t node = 0; node < walk->heap->node_count; node++) {
		ck_assert(rcore_heap_is_reachable(walk, node) == reached[node]);
		if (!reached[node])
			continue;
		uint32_t number = walk->number[node];
		ck_assert_uint_eq(walk->node[number], node);
		ck_assert_uint_lt(dominators->dominator[number], number);
		ck_assert_uint_eq(dominators->retained[number],
				  all - reach(walk->heap, node, NULL, false, rest));
	}
}

/* The union of what the nodes of a group retain, node by node. */
static void check_groups(const struct rcore_heap_walk *walk,
			 const struct rcore_dominators *dominators)
{
	enum { GROUPS = 3 };
	const struct rcore_heap *heap = walk->heap;
	struct rcore_heap_group groups[GROUPS], naive[GROUPS] = {0};
	uint32_t group[MOST_NODES];
	bool reached[MOST_NODES], rest[MOST_NODES], lost[GROUPS][MOST_NODES] = {0};
	reach(heap, RCORE_HEAP_NONE, NULL, false, reached);
	for (uint32_t node = 0; node < heap->node_count; node++) {
		group[node] = random_below(&seed, GROUPS + 1);
		if (group[node] == GROUPS)
			group[node] = RCORE_HEAP_NONE;
		if (!reached[node] || group[node] == RCORE_HEAP_NONE)
			continue;
		naive[group[node]].count++;
		naive[group[node]].bytes += rcore_heap_bytes(heap, node);
		reach(heap, node, NULL, false, rest);
		for (uint32_t other = 0; other < heap->node_count; other++)
			lost[group[node]][other] |= reached[other] && !rest[other];
	}
	for (uint32_t i = 0; i < GROUPS; i++)
		for (uint32_t node = 0; node < heap->node_count; node++)
			naive[i].retained += lost[i][node] ? rcore_heap_bytes(heap, node) : 0;
	ck_assert_ptr_null(rcore_heap_group_retained(walk, dominators, group, GROUPS, groups));
	for (uint32_t i = 0; i < GROUPS; i++) {
		ck_assert_uint_eq(groups[i].count, naive[i].count);
		ck_assert_uint_eq(groups[i].bytes, naive[i].bytes);
		ck_assert_uint_eq(groups[i].retained, naive[i].retained);
	}
}

static size_t chains; /* nodes that check_chains() has seen left out */

/* The third node of a group in a chain, and those below it, are left out. */
static void check_chains(const struct rcore_heap_walk *walk,
			 const struct rcore_dominators *dominators, const uint32_t *all,
			 uint32_t reachable)
{
	uint32_t group[MOST_NODES], wanted[MOST_NODES], found[MOST_NODES];
	size_t count = 0;
	for (uint32_t i = 0; i < MOST_NODES; i++)
		group[i] = i % 7 ? i % 2 : RCORE_HEAP_NONE;
	for (uint32_t i = 0; i < reachable; i++) {
		uint32_t first = dominators->dominator[walk->number[all[i]]];
		uint32_t second = dominators->dominator[first];
		uint32_t above[] = {walk->node[first], walk->node[second]};
		bool is_left_out = first && second && group[all[i]] != RCORE_HEAP_NONE;
		for (int j = 0; j < 2 && is_left_out; j++)
			is_left_out = above[j] < walk->heap->node_count &&
				      group[above[j]] == group[all[i]];
		if (!is_left_out)
			wanted[count++] = all[i];
		chains += is_left_out;
	}
	ck_assert_uint_eq(
		rcore_heap_top_retained(walk, dominators, group, NULL, MOST_NODES, found),
		count);
	ck_assert_mem_eq(found, wanted, count * sizeof(*found));
}

static bool is_odd(void *context, uint32_t node)
{
	++*(uint32_t *)context;
	return node % 2;
}

/* A filter leaves out the others, also if there is room for few. */
static void check_filter(const struct rcore_heap_walk *walk,
			 const struct rcore_dominators *dominators, const uint32_t *all,
			 uint32_t reachable)
{
	uint32_t wanted[MOST_NODES], found[MOST_NODES], asked = 0;
	const struct rcore_heap_filter filter = {is_odd, &asked};
	size_t count = 0;
	for (uint32_t i = 0; i < reachable; i++)
		if (all[i] % 2)
			wanted[count++] = all[i];
	for (size_t limit = 1; limit <= MOST_NODES; limit *= 2) {
		size_t listed = count < limit ? count : limit;
		ck_assert_uint_eq(
			rcore_heap_top_retained(walk, dominators, NULL, &filter, limit, found),
			listed);
		ck_assert_mem_eq(found, wanted, listed * sizeof(*found));
	}
	ck_assert_uint_ge(asked, reachable);
}

static void check_top(const struct rcore_heap_walk *walk,
		      const struct rcore_dominators *dominators, uint32_t reachable)
{
	uint32_t top[MOST_NODES], few[2];
	ck_assert_uint_eq(
		rcore_heap_top_retained(walk, dominators, NULL, NULL, MOST_NODES, top),
		reachable);
	for (uint32_t i = 1; i < reachable; i++)
		ck_assert_uint_ge(dominators->retained[walk->number[top[i - 1]]],
				  dominators->retained[walk->number[top[i]]]);
	size_t count =
		rcore_heap_top_retained(walk, dominators, NULL, NULL, RCORE_COUNT(few), few);
	ck_assert_mem_eq(few, top, count * sizeof(*few));
	check_chains(walk, dominators, top, reachable);
	check_filter(walk, dominators, top, reachable);
}

enum { FOLD_GROUPS = 3, MOST_NUMBERS = 2 * MOST_NODES + 64 };

/* The titles above and of a number, the innermost first; repeats are one. */
static size_t titles_of(const struct rcore_heap_walk *walk,
			const struct rcore_dominators *dominators, const uint32_t *group,
			uint32_t number, uint32_t *ret)
{
	size_t count = 0;
	for (; number; number = dominators->dominator[number]) {
		uint32_t node = walk->node[number], slots = walk->heap->node_count;
		uint32_t title = node < slots ? group[node] : FOLD_GROUPS + node - slots;
		if (!count || ret[count - 1] != title)
			ret[count++] = title;
	}
	return count;
}

static bool is_titled(const struct rcore_fold *fold, uint32_t index, const uint32_t *titles,
		      size_t count)
{
	for (size_t i = 0; i < count; i++, index = fold->items[index].above)
		if (!index || fold->items[index].title != titles[i])
			return false;
	return index == 0;
}

/* What a node of the folded tree has, number by number. */
static void check_folded(const struct rcore_heap_walk *walk,
			 const struct rcore_dominators *dominators, const uint32_t *group,
			 const struct rcore_fold *fold, uint32_t index)
{
	uint64_t count = 0, bytes = 0, retained = 0;
	uint32_t titles[MOST_NUMBERS];
	for (uint32_t number = 1; number < dominators->count; number++) {
		size_t length = titles_of(walk, dominators, group, number, titles);
		bool is_in = is_titled(fold, index, titles, length);
		length = titles_of(walk, dominators, group, dominators->dominator[number],
				   titles);
		bool is_below = is_titled(fold, index, titles, length);
		count += is_in && walk->node[number] < walk->heap->node_count;
		if (is_in && walk->node[number] < walk->heap->node_count)
			bytes += rcore_heap_bytes(walk->heap, walk->node[number]);
		retained += is_in && !is_below ? dominators->retained[number] : 0;
	}
	ck_assert_uint_eq(fold->items[index].count, count);
	ck_assert_uint_eq(fold->items[index].bytes, bytes);
	ck_assert_uint_eq(fold->items[index].retained,
			  index ? retained : dominators->retained[0]);
}

static void check_fold(const struct rcore_heap_walk *walk,
		       const struct rcore_dominators *dominators)
{
	struct rcore_fold fold, few;
	uint32_t group[MOST_NODES];
	for (uint32_t node = 0; node < walk->heap->node_count; node++)
		group[node] = random_below(&seed, FOLD_GROUPS);
	ck_assert_ptr_null(
		rcore_fold_init(walk, dominators, group, FOLD_GROUPS, SIZE_MAX, &fold));
	for (uint32_t i = 0; i < fold.count; i++)
		check_folded(walk, dominators, group, &fold, i);
	size_t limit = 1 + random_below(&seed, 8);
	ck_assert_ptr_null(rcore_fold_init(walk, dominators, group, FOLD_GROUPS, limit, &few));
	ck_assert_uint_eq(few.count, limit < fold.count ? limit : fold.count);
	ck_assert_uint_eq(few.count + few.left_out, fold.count);
	for (uint32_t i = 1; i < few.count; i++) {
		ck_assert_uint_lt(few.items[i].above, i);
		ck_assert_uint_le(few.items[i].retained,
				  few.items[few.items[i].above].retained);
	}
	rcore_fold_deinit(&few);
	rcore_fold_deinit(&fold);
}

START_TEST(sizes_are_those_of_removing_a_node)
{
	seed = random_seed();
	for (int i = 0; i < GRAPHS; i++) {
		struct heap_builder builder;
		struct rcore_heap_walk walk;
		struct rcore_dominators dominators;
		bool reached[MOST_NODES];
		heap_builder_draw(&builder, &seed, MOST_NODES);
		uint64_t all = reach(&builder.heap, RCORE_HEAP_NONE, NULL, false, reached);
		ck_assert_ptr_null(rcore_heap_walk_init(&builder.heap, &walk));
		ck_assert_ptr_null(rcore_dominators_init(&walk, &dominators));
		check_nodes(&walk, &dominators, all, reached);
		check_owners(&walk, &dominators, all);
		check_groups(&walk, &dominators);
		check_fold(&walk, &dominators);
		uint32_t reachable = 0;
		for (uint32_t node = 0; node < builder.heap.node_count; node++)
			reachable += reached[node];
		ck_assert_uint_eq(walk.count, reachable + walk.owner_count);
		check_top(&walk, &dominators, reachable);
		rcore_dominators_deinit(&dominators);
		rcore_heap_walk_deinit(&walk);
		heap_builder_deinit(&builder);
	}
	ck_assert_uint_gt(chains, 0);
}
END_TEST

/* By node: the length of its shortest path; 0: unreachable. */
static void find_lengths(const struct rcore_heap *heap, bool conservative, uint32_t *ret)
{
	memset(ret, 0, heap->node_count * sizeof(*ret));
	for (size_t i = 0; i < heap->root_count; i++)
		if (conservative || !heap->roots[i].is_conservative)
			ret[heap->roots[i].node] = 1;
	for (uint32_t round = 0; round < heap->node_count; round++)
		for (uint32_t node = 0; node < heap->node_count; node++)
			for (uint32_t edge = heap->first_edge[node];
			     ret[node] && edge < heap->first_edge[node + 1]; edge++) {
				uint32_t *length = &ret[heap->target[edge]];
				if (rcore_edge_kind(heap->label[edge]) ==
					    RCORE_EDGE_CONSERVATIVE &&
				    !conservative)
					continue;
				if (!*length || *length > ret[node] + 1)
					*length = ret[node] + 1;
			}
}

static bool has_edge(const struct rcore_heap *heap, uint32_t from,
		     const struct rcore_heap_step *step)
{
	for (uint32_t edge = heap->first_edge[from]; edge < heap->first_edge[from + 1]; edge++)
		if (heap->target[edge] == step->node && heap->label[edge] == step->label)
			return true;
	return false;
}

/* Whether a step is over a conservative edge beside one that is not. */
static bool is_doubtful(const struct rcore_heap *heap, uint32_t from,
			const struct rcore_heap_step *step)
{
	if (rcore_edge_kind(step->label) != RCORE_EDGE_CONSERVATIVE)
		return false;
	for (uint32_t edge = heap->first_edge[from]; edge < heap->first_edge[from + 1]; edge++)
		if (heap->target[edge] == step->node &&
		    rcore_edge_kind(heap->label[edge]) != RCORE_EDGE_CONSERVATIVE)
			return true;
	return false;
}

static void check_steps(const struct rcore_heap *heap, const struct rcore_heap_path *path)
{
	for (size_t i = 1; i < path->count; i++) {
		ck_assert(has_edge(heap, path->steps[i - 1].node, &path->steps[i]));
		ck_assert(!is_doubtful(heap, path->steps[i - 1].node, &path->steps[i]));
	}
	if (path->count)
		ck_assert_uint_eq(path->steps[0].node, path->root->node);
}

static void is_same_path(const struct rcore_heap_paths *one,
			 const struct rcore_heap_paths *other, uint32_t node)
{
	struct rcore_heap_path a, b;
	ck_assert_ptr_null(rcore_heap_path_init(one, node, &a));
	ck_assert_ptr_null(rcore_heap_path_init(other, node, &b));
	ck_assert_ptr_eq(a.root, b.root);
	ck_assert_uint_eq(a.count, b.count);
	for (size_t i = 0; i < a.count; i++) {
		ck_assert_uint_eq(a.steps[i].node, b.steps[i].node);
		ck_assert_uint_eq(a.steps[i].label, b.steps[i].label);
	}
	rcore_heap_path_deinit(&a);
	rcore_heap_path_deinit(&b);
}

START_TEST(paths_to_some_nodes_are_the_same)
{
	bool ended_early = false;
	seed = random_seed();
	for (int i = 0; i < GRAPHS; i++) {
		enum { GOALS = 3 };
		struct heap_builder builder;
		struct rcore_heap_paths all, some;
		uint32_t goals[GOALS];
		heap_builder_draw(&builder, &seed, MOST_NODES);
		const struct rcore_heap *heap = &builder.heap;
		size_t count = heap->node_count ? (size_t)i % (GOALS + 1) : 0;
		for (size_t k = 0; k < count; k++)
			goals[k] = (uint32_t)random_below(&seed, heap->node_count);
		ck_assert_ptr_null(rcore_heap_paths_init(heap, &all));
		ck_assert_ptr_null(rcore_heap_paths_to(heap, goals, count, &some));
		for (size_t k = 0; k < count; k++)
			is_same_path(&all, &some, goals[k]);
		ck_assert_uint_le(some.count, all.count);
		ended_early |= some.count < all.count;
		rcore_heap_paths_deinit(&all);
		rcore_heap_paths_deinit(&some);
		heap_builder_deinit(&builder);
	}
	ck_assert(ended_early);
}
END_TEST

START_TEST(paths_are_shortest)
{
	seed = random_seed();
	for (int i = 0; i < GRAPHS; i++) {
		struct heap_builder builder;
		struct rcore_heap_paths paths;
		struct rcore_heap_path path;
		uint32_t certain[MOST_NODES], any[MOST_NODES];
		heap_builder_draw(&builder, &seed, MOST_NODES);
		const struct rcore_heap *heap = &builder.heap;
		find_lengths(heap, false, certain);
		find_lengths(heap, true, any);
		ck_assert_ptr_null(rcore_heap_paths_init(heap, &paths));
		for (uint32_t node = 0; node < heap->node_count; node++) {
			ck_assert_ptr_null(rcore_heap_path_init(&paths, node, &path));
			ck_assert(!path.root == !any[node]);
			if (certain[node]) {
				ck_assert_uint_eq(path.count, certain[node]);
				ck_assert(!path.root->is_conservative);
			}
			check_steps(heap, &path);
			if (path.count)
				ck_assert_uint_eq(path.steps[path.count - 1].node, node);
			rcore_heap_path_deinit(&path);
		}
		rcore_heap_paths_deinit(&paths);
		heap_builder_deinit(&builder);
	}
}
END_TEST

START_TEST(referrers_are_all)
{
	seed = random_seed();
	for (int i = 0; i < GRAPHS; i++) {
		struct heap_builder builder;
		struct rcore_heap_referrers referrers;
		heap_builder_draw(&builder, &seed, MOST_NODES);
		const struct rcore_heap *heap = &builder.heap;
		uint64_t edges = 0, roots = 0;
		for (uint32_t node = 0; node < heap->node_count; node++) {
			ck_assert_ptr_null(
				rcore_heap_referrers_init(heap, node, SIZE_MAX, &referrers));
			for (size_t n = 0; n < referrers.count; n++)
				ck_assert(has_edge(heap, referrers.items[n].node,
						   &(struct rcore_heap_step){
							   node, referrers.items[n].label}));
			ck_assert_uint_eq(referrers.total,
					  referrers.count + referrers.root_count);
			edges += referrers.count;
			roots += referrers.root_count;
			uint64_t total = referrers.total;
			rcore_heap_referrers_deinit(&referrers);
			ck_assert_ptr_null(
				rcore_heap_referrers_init(heap, node, 1, &referrers));
			ck_assert_uint_eq(referrers.total, total);
			ck_assert_uint_le(referrers.count, 1);
			rcore_heap_referrers_deinit(&referrers);
		}
		ck_assert_uint_eq(edges, heap->edge_count);
		ck_assert_uint_eq(roots, heap->root_count);
		heap_builder_deinit(&builder);
	}
}
END_TEST

/* Shapes that a walk could go wrong on; each has DEEP nodes. */
enum shape { CHAIN, CHAIN_BACK, LADDER, STAR, SELF, SHAPES };

static void build(struct heap_builder *builder, enum shape shape)
{
	heap_builder_init(builder, DEEP, 400);
	for (uint32_t i = 0; i + 1 < DEEP; i++) {
		if (shape == CHAIN || shape == CHAIN_BACK || shape == LADDER)
			heap_builder_edge(builder, i, i + 1, 0);
		if (shape == CHAIN_BACK)
			heap_builder_edge(builder, i + 1, i, 0);
		if (shape == LADDER && i + 2 < DEEP)
			heap_builder_edge(builder, i, i + 2, 0);
		if (shape == STAR)
			heap_builder_edge(builder, 0, i + 1, 0);
		if (shape == SELF)
			heap_builder_edge(builder, i, i, 0);
	}
	heap_builder_root(builder, 0, RCORE_ROOT_GLOBAL, "$a");
	/* From the other end, so that nothing is dominated in between. */
	if (shape == CHAIN_BACK)
		heap_builder_root(builder, DEEP - 1, RCORE_ROOT_VM, "");
	heap_builder_finish(builder);
}

START_TEST(hostile_shapes_end)
{
	struct heap_builder builder;
	struct rcore_heap_walk walk;
	struct rcore_dominators dominators;
	struct rcore_heap_paths paths;
	build(&builder, _i);
	const struct rcore_heap *heap = &builder.heap;
	uint64_t all = 0;
	for (uint32_t node = 0; node < DEEP; node++)
		all += rcore_heap_bytes(heap, node);
	ck_assert_ptr_null(rcore_heap_walk_init(heap, &walk));
	ck_assert_ptr_null(rcore_dominators_init(&walk, &dominators));
	uint32_t reachable = _i == SELF ? 1 : DEEP;
	ck_assert_uint_eq(walk.count, reachable + walk.owner_count);
	uint64_t first = dominators.retained[walk.number[0]];
	uint64_t last = rcore_heap_bytes(heap, DEEP - 1);
	ck_assert_uint_eq(first,
			  _i == CHAIN_BACK || _i == SELF ? rcore_heap_bytes(heap, 0) : all);
	if (_i != SELF)
		ck_assert_uint_eq(dominators.retained[walk.number[DEEP - 1]], last);
	uint32_t *group = calloc(DEEP, sizeof(*group));
	struct rcore_heap_group sums;
	ck_assert_ptr_nonnull(group);
	ck_assert_ptr_null(rcore_heap_group_retained(&walk, &dominators, group, 1, &sums));
	ck_assert_uint_eq(sums.count, reachable);
	ck_assert_uint_eq(sums.retained, _i == SELF ? rcore_heap_bytes(heap, 0) : all);
	ck_assert_ptr_null(rcore_heap_paths_init(heap, &paths));
	ck_assert_uint_eq(paths.count, reachable);
	struct rcore_heap_path path;
	ck_assert_ptr_null(rcore_heap_path_init(&paths, DEEP - 1, &path));
	static const size_t lengths[SHAPES] = {DEEP, 1, DEEP / 2 + 1, 2, 0};
	ck_assert_uint_eq(path.count, lengths[_i]);
	rcore_heap_path_deinit(&path);
	rcore_heap_paths_deinit(&paths);
	free(group);
	rcore_dominators_deinit(&dominators);
	rcore_heap_walk_deinit(&walk);
	heap_builder_deinit(&builder);
}
END_TEST

START_TEST(an_empty_heap_is_one)
{
	struct heap_builder builder;
	struct rcore_heap_walk walk;
	struct rcore_dominators dominators;
	struct rcore_heap_paths paths;
	heap_builder_init(&builder, 0, 10);
	heap_builder_finish(&builder);
	ck_assert_ptr_null(rcore_heap_walk_init(&builder.heap, &walk));
	ck_assert_ptr_null(rcore_dominators_init(&walk, &dominators));
	ck_assert_uint_eq(walk.count, walk.owner_count);
	ck_assert_uint_eq(dominators.retained[0], 0);
	ck_assert_ptr_null(rcore_heap_paths_init(&builder.heap, &paths));
	ck_assert_uint_eq(paths.count, 0);
	rcore_heap_paths_deinit(&paths);
	rcore_dominators_deinit(&dominators);
	rcore_heap_walk_deinit(&walk);
	heap_builder_deinit(&builder);
}
END_TEST

int main(void)
{
	const TTest *const random[] = {sizes_are_those_of_removing_a_node, paths_are_shortest,
				       paths_to_some_nodes_are_the_same, referrers_are_all,
				       an_empty_heap_is_one};
	const TTest *const hostile[] = {hostile_shapes_end};
	const struct rcore_test_suite suites[] = {
		{.name = "dominators", .tests = random, .count = RCORE_COUNT(random)},
		{.name = "shapes",
		 .tests = hostile,
		 .count = 1,
		 .loops = SHAPES,
		 .timeout = 60},
	};
	int status = EXIT_SUCCESS;
	for (size_t i = 0; i < RCORE_COUNT(suites); i++)
		status |= rcore_test_suite_run(&suites[i]);
	return status;
}
