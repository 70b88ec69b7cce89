/* SPDX-License-Identifier: MIT */

#include "base/count.h"
#include "heap/share.h"
#include "heap/walk.h"
#include "random_heap.h"
#include "suite.h"

enum { ROUNDS = 200, MOST = 60, TYPES = 4 };

static void draw(struct heap_builder *builder, uint64_t *seed)
{
	heap_builder_draw(builder, seed, MOST);
	struct rcore_heap *heap = &builder->heap;
	for (uint32_t node = 0; node < heap->node_count; node++) {
		heap->type[node] = (uint8_t)(1 + random_below(seed, TYPES));
		heap->state[node] = random_below(seed, 2) ? RCORE_HEAP_MARKED : 0;
	}
}

START_TEST(counts_as_the_walk)
{
	uint64_t seed = random_seed();
	for (int round = 0; round < ROUNDS; round++) {
		struct heap_builder builder;
		struct rcore_heap_walk walk;
		struct rcore_heap_share share;
		bool missed[MOST];
		draw(&builder, &seed);
		const struct rcore_heap *heap = &builder.heap;
		uint32_t marked = 0, reached = 0;
		ck_assert_ptr_null(rcore_heap_walk_init(heap, &walk));
		ck_assert_ptr_null(
			rcore_heap_count_reached(heap, RCORE_SHARE_ALL, missed, &share));
		for (uint32_t node = 0; node < heap->node_count; node++) {
			bool is_marked = heap->state[node] & RCORE_HEAP_MARKED;
			bool is_reached = rcore_heap_is_reachable(&walk, node);
			marked += is_marked;
			reached += is_marked && is_reached;
			ck_assert_int_eq(missed[node], is_marked && !is_reached);
		}
		ck_assert_uint_eq(share.marked, marked);
		ck_assert_uint_eq(share.reached, reached);
		rcore_heap_walk_deinit(&walk);
		heap_builder_deinit(&builder);
	}
}
END_TEST

/* Fewer references never reach more, and each that is left out is followed. */
START_TEST(without_a_type)
{
	uint64_t seed = random_seed();
	for (int round = 0; round < ROUNDS; round++) {
		struct heap_builder builder;
		struct rcore_heap_share all, less;
		draw(&builder, &seed);
		struct rcore_heap *heap = &builder.heap;
		const int type = 1 + (int)random_below(&seed, TYPES);
		ck_assert_ptr_null(rcore_heap_count_reached(heap, RCORE_SHARE_ALL, NULL, &all));
		ck_assert_ptr_null(rcore_heap_count_reached(heap, type, NULL, &less));
		ck_assert_uint_eq(less.marked, all.marked);
		ck_assert_uint_le(less.reached, all.reached);
		/* The same as with a graph that has none of them. */
		for (uint32_t node = 0; node < heap->node_count; node++)
			for (uint32_t i = heap->first_edge[node];
			     heap->type[node] == type && i < heap->first_edge[node + 1]; i++)
				if (rcore_edge_kind(heap->label[i]) != RCORE_EDGE_CLASS)
					heap->target[i] = node;
		ck_assert_ptr_null(rcore_heap_count_reached(heap, RCORE_SHARE_ALL, NULL, &all));
		ck_assert_uint_eq(less.reached, all.reached);
		heap_builder_deinit(&builder);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {counts_as_the_walk, without_a_type};
	const struct rcore_test_suite suite = {
		.name = "share", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
