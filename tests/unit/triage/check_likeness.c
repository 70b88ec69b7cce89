/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/count.h"
#include "model/alike.h"
#include "suite.h"

/* Two items in a row are the same; all in a family are similar. */
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

static void look(size_t items, bool merge, struct rcore_snapshot *snapshot,
		 struct rcore_likeness **ret, size_t *ret_count)
{
	const struct rcore_comparison same = {items, hash_same, always};
	const struct rcore_comparison similar = {items, hash_similar, always};
	*snapshot = (struct rcore_snapshot){0};
	ck_assert_ptr_null(
		rcore_likeness_find(snapshot, &same, &similar, merge, ret, ret_count));
}

START_TEST(others_are_listed)
{
	struct rcore_snapshot snapshot;
	struct rcore_likeness *found;
	size_t count;
	family = 6;
	look(12, false, &snapshot, &found, &count);
	ck_assert_uint_eq(count, 6);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(found[i].same.count, 2);
		ck_assert_uint_eq(found[i].similar_count, 4);
		ck_assert_uint_eq(found[i].similar.count, 4);
		for (size_t k = 0; k < 4; k++) {
			size_t item = (size_t)found[i].similar.items[k];
			ck_assert_uint_eq(item / 6, 2 * i / 6);
			ck_assert_uint_ne(item / 2, i);
		}
	}
	free(found);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

START_TEST(merged_ones_are_not)
{
	struct rcore_snapshot snapshot;
	struct rcore_likeness *found;
	size_t count;
	family = 6;
	look(12, true, &snapshot, &found, &count);
	ck_assert_uint_eq(count, 2);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(found[i].same.count, 6);
		ck_assert_uint_eq(found[i].similar_count, 0);
		ck_assert(found[i].differs);
	}
	free(found);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

/* If each pair listed all others, this would take 160 GB. */
START_TEST(a_large_family_takes_little)
{
	enum { ITEMS = 400000 };
	struct rcore_snapshot snapshot;
	struct rcore_likeness *found;
	size_t count;
	family = ITEMS;
	look(ITEMS, false, &snapshot, &found, &count);
	ck_assert_uint_eq(count, ITEMS / 2);
	size_t right = 0;
	for (size_t i = 0; i < count; i++)
		right += found[i].similar_count == ITEMS - 2 &&
			 found[i].similar.count == RCORE_SIMILAR_LISTED;
	ck_assert_uint_eq(right, count);
	free(found);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {others_are_listed, merged_ones_are_not,
				      a_large_family_takes_little};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "likeness", .tests = tests, .count = RCORE_COUNT(tests)});
}
