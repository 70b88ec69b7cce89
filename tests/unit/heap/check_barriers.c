/* SPDX-License-Identifier: MIT */

#include "base/count.h"
#include "heap/barriers.h"
#include "random_heap.h"
#include "suite.h"

enum { ROUNDS = 200, MOST = 60 };

/* Whether the collector would lose the target of an edge. */
static bool is_missing(const struct rcore_heap *heap, const uint8_t *notes, uint32_t node,
		       uint32_t edge)
{
	uint32_t target = heap->target[edge];
	bool is_old = heap->state[node] & RCORE_HEAP_OLD;
	bool is_young = !(heap->state[target] & RCORE_HEAP_OLD) &&
			!(notes[target] & RCORE_NOTE_UNCOLLECTIBLE);
	bool is_told = (notes[node] | notes[target]) & RCORE_NOTE_REMEMBERED;
	bool is_exact = rcore_edge_kind(heap->label[edge]) != RCORE_EDGE_CONSERVATIVE;
	return is_old && is_young && !is_told && is_exact;
}

START_TEST(missing_barriers_are_all)
{
	uint64_t seed = random_seed();
	for (int round = 0; round < ROUNDS; round++) {
		struct heap_builder builder;
		heap_builder_draw(&builder, &seed, MOST);
		struct rcore_heap *heap = &builder.heap;
		uint8_t notes[MOST] = {0};
		for (uint32_t node = 0; node < heap->node_count; node++) {
			heap->state[node] |= random_below(&seed, 2) ? RCORE_HEAP_OLD : 0;
			notes[node] = (uint8_t)random_below(&seed, 4);
		}
		uint32_t at = 0, found;
		for (uint32_t node = 0; node < heap->node_count; node++)
			for (uint32_t edge = heap->first_edge[node];
			     edge < heap->first_edge[node + 1]; edge++) {
				if (!is_missing(heap, notes, node, edge))
					continue;
				ck_assert(rcore_heap_missing_barrier(heap, notes, &at, &found));
				ck_assert_uint_eq(at, edge);
				ck_assert_uint_eq(found, node);
				at++;
			}
		ck_assert(!rcore_heap_missing_barrier(heap, notes, &at, &found));
		heap_builder_deinit(&builder);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {missing_barriers_are_all};
	const struct rcore_test_suite suite = {
		.name = "barriers", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
