/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/count.h"
#include "model/alike.h"
#include "suite.h"

/* Items 2n and 2n + 1 are the same; all items of a family are similar. */
static size_t family;

static bool hash_same(const struct rcore_snapshot *snapshot, size_t item, uint64_t *ret)
{
	*ret = item / 2;
	return true;
}

static bool hash_similar(const struct rcore_snapshot *snapshot, size_t item, uint64_t *ret)
{
	*ret = item / family;
	return true;
}

static bool always(const struct rcore_snapshot *snapshot, size_t a, size_t b)
{
	return true;
}

struct look {
	struct rcore_snapshot snapshot;
	struct rcore_likeness *found;
	size_t count;
};

static void look(struct look *look, size_t items, size_t size_of_family, bool merge)
{
	const struct rcore_comparison same = {items, hash_same, always};
	const struct rcore_comparison similar = {items, hash_similar, always};
	family = size_of_family;
	*look = (struct look){0};
	ck_assert_ptr_null(rcore_likeness_find(&look->snapshot, &same, &similar, merge,
					       &look->found, &look->count));
}

static void end(struct look *look)
{
	free(look->found);
	rcore_arena_deinit(&look->snapshot.arena);
}

START_TEST(others_are_listed)
{
	struct look six;
	look(&six, 12, 6, false);
	ck_assert_uint_eq(six.count, 6);
	for (size_t i = 0; i < six.count; i++) {
		ck_assert_uint_eq(six.found[i].same.count, 2);
		ck_assert_uint_eq(six.found[i].similar_count, 4);
		ck_assert_uint_eq(six.found[i].similar.count, 4);
		for (size_t k = 0; k < 4; k++) {
			size_t item = (size_t)six.found[i].similar.items[k];
			ck_assert_uint_eq(item / 6, 2 * i / 6);
			ck_assert_uint_ne(item / 2, i);
		}
	}
	end(&six);
}
END_TEST

START_TEST(merged_ones_are_not)
{
	struct look two;
	look(&two, 12, 6, true);
	ck_assert_uint_eq(two.count, 2);
	for (size_t i = 0; i < two.count; i++) {
		ck_assert_uint_eq(two.found[i].same.count, 6);
		ck_assert_uint_eq(two.found[i].similar_count, 0);
		ck_assert(two.found[i].differs);
	}
	end(&two);
}
END_TEST

/* If each pair listed all others, this would take 160 GB. */
START_TEST(a_large_family_takes_little)
{
	enum { ITEMS = 400000 };
	struct look large;
	look(&large, ITEMS, ITEMS, false);
	ck_assert_uint_eq(large.count, ITEMS / 2);
	size_t right = 0;
	for (size_t i = 0; i < large.count; i++)
		right += large.found[i].similar_count == ITEMS - 2 &&
			 large.found[i].similar.count == RCORE_SIMILAR_LISTED;
	ck_assert_uint_eq(right, large.count);
	end(&large);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {others_are_listed, merged_ones_are_not,
				      a_large_family_takes_little};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "likeness", .tests = tests, .count = RCORE_COUNT(tests)});
}
