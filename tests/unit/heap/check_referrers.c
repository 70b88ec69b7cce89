/* SPDX-License-Identifier: MIT */

#include "base/count.h"
#include "heap/path.h"
#include "random_heap.h"
#include "suite.h"

/* A local in several frames of a method, on a stack that is marked twice. */
START_TEST(finds_a_name_once)
{
	const uint32_t order = rcore_edge_label(RCORE_EDGE_LOCAL, 1),
		       other = rcore_edge_label(RCORE_EDGE_LOCAL, 2),
		       element = rcore_edge_label(RCORE_EDGE_ELEMENT, 0);
	struct heap_builder builder;
	struct rcore_heap_referrers referrers;
	heap_builder_init(&builder, 3, 3);
	for (int i = 0; i < 2; i++) {
		heap_builder_edge(&builder, 0, 2, order);
		heap_builder_edge(&builder, 0, 2, other);
		heap_builder_edge(&builder, 1, 2, order);
		/* numbers above the limit are all equal */
		heap_builder_edge(&builder, 1, 2, element);
	}
	heap_builder_finish(&builder);
	ck_assert_ptr_null(rcore_heap_referrers_init(&builder.heap, 2, SIZE_MAX, &referrers));
	ck_assert_uint_eq(referrers.count, 5);
	ck_assert_uint_eq(referrers.total, 5);
	rcore_heap_referrers_deinit(&referrers);
	heap_builder_deinit(&builder);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {finds_a_name_once};
	const struct rcore_test_suite suite = {
		.name = "referrers", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
