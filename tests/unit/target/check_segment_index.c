/* SPDX-License-Identifier: MIT */
/* Which segments contain an address, however they overlap. */
#include "base/count.h"
#include "draw.h"
#include "suite.h"
#include "target/segment_index.h"

/* Sorted by start, as those of a process are. */
static const struct rcore_segment segments[] = {
	/* One is inside another. */
	{.start = 0x1000, .size = 0x8000, .saved = 0x7000},
	{.start = 0x5000, .size = 0x100, .saved = 0x100},
	/* These touch, but do not overlap. */
	{.start = 0x9000, .size = 0x1000, .saved = 0},
	/* An empty one, and two others, have the same start. */
	{.start = 0x20000, .size = 0x3000, .saved = 0x1000},
	{.start = 0x20000, .size = 0x1000, .saved = 0x800},
	{.start = 0x20000, .size = 0, .saved = 0},
	/* Each begins inside the one before it. */
	{.start = 0x30000, .size = 0x2000, .saved = 0x2000},
	{.start = 0x31000, .size = 0x2000, .saved = 0x2000},
	/* Only the inner one is saved. */
	{.start = 0x40000, .size = 0x4000, .saved = 0},
	{.start = 0x41000, .size = 0x1000, .saved = 0x1000},
};

START_TEST(finds)
{
	static const struct {
		uint64_t address;
		enum rcore_segment_part part;
		uint64_t start, end; /* 0: none */
	} rows[] = {
		{0, RCORE_SEGMENT_WHOLE, 0, 0},
		{0xfff, RCORE_SEGMENT_WHOLE, 0, 0},
		{0x1000, RCORE_SEGMENT_WHOLE, 0x1000, 0x9000},
		{0x5000, RCORE_SEGMENT_WHOLE, 0x1000, 0x9000},
		{0x5100, RCORE_SEGMENT_WHOLE, 0x1000, 0x9000},
		{0x7fff, RCORE_SEGMENT_WHOLE, 0x1000, 0x9000},
		{0x7fff, RCORE_SEGMENT_SAVED, 0x1000, 0x8000},
		{0x8000, RCORE_SEGMENT_SAVED, 0, 0},
		{0x8fff, RCORE_SEGMENT_WHOLE, 0x1000, 0x9000},
		{0x9000, RCORE_SEGMENT_WHOLE, 0x9000, 0xa000},
		{0x9000, RCORE_SEGMENT_SAVED, 0, 0},
		{0xa000, RCORE_SEGMENT_WHOLE, 0, 0},
		{0x20000, RCORE_SEGMENT_WHOLE, 0x20000, 0x23000},
		{0x20000, RCORE_SEGMENT_SAVED, 0x20000, 0x21000},
		{0x22fff, RCORE_SEGMENT_WHOLE, 0x20000, 0x23000},
		{0x23000, RCORE_SEGMENT_WHOLE, 0, 0},
		{0x30fff, RCORE_SEGMENT_WHOLE, 0x30000, 0x32000},
		{0x31000, RCORE_SEGMENT_WHOLE, 0x30000, 0x33000},
		{0x32000, RCORE_SEGMENT_SAVED, 0x31000, 0x33000},
		{0x33000, RCORE_SEGMENT_WHOLE, 0, 0},
		{0x41800, RCORE_SEGMENT_WHOLE, 0x40000, 0x44000},
		{0x41800, RCORE_SEGMENT_SAVED, 0x41000, 0x42000},
		{0x42000, RCORE_SEGMENT_SAVED, 0, 0},
		{0x43fff, RCORE_SEGMENT_WHOLE, 0x40000, 0x44000},
		{UINT64_MAX, RCORE_SEGMENT_WHOLE, 0, 0},
	};
	struct rcore_segment_index index;
	ck_assert(rcore_segment_index_init(segments, RCORE_COUNT(segments), &index));
	for (size_t i = 0; i < RCORE_COUNT(rows); i++) {
		uint64_t start = 0, end = 0;
		bool found = rcore_segment_index_find(&index, rows[i].part, rows[i].address,
						      &start, &end);
		ck_assert_msg(found == (rows[i].end != 0) && start == rows[i].start &&
				      end == rows[i].end,
			      "row %zu: 0x%lx to 0x%lx", i, (unsigned long)start,
			      (unsigned long)end);
	}
	rcore_segment_index_deinit(&index);
}
END_TEST

START_TEST(no_segments)
{
	struct rcore_segment_index index;
	uint64_t start, end;
	ck_assert(rcore_segment_index_init(NULL, 0, &index));
	ck_assert(!rcore_segment_index_find(&index, RCORE_SEGMENT_WHOLE, 0, &start, &end));
	rcore_segment_index_deinit(&index);
}
END_TEST

/* Compares with a look at each segment. */
START_TEST(any_segments)
{
	enum { COUNT = 8, ROOM = 24, ROUNDS = 2000 };
	uint64_t seed = random_seed();
	for (int round = 0; round < ROUNDS; round++) {
		struct rcore_segment all[COUNT];
		struct rcore_segment_index index;
		uint64_t last = 0;
		for (size_t i = 0; i < COUNT; i++) {
			uint32_t size = random_below(&seed, ROOM / 2);
			last += random_below(&seed, 4);
			all[i] = (struct rcore_segment){
				.start = last,
				.size = size,
				.saved = random_below(&seed, size + 1),
			};
		}
		ck_assert(rcore_segment_index_init(all, COUNT, &index));
		for (uint64_t at = 0; at < 2 * ROOM; at++)
			for (int part = 0; part < 2; part++) {
				uint64_t start = UINT64_MAX, end = 0, got_start, got_end;
				for (size_t i = 0; i < COUNT; i++) {
					uint64_t size = part == RCORE_SEGMENT_SAVED
								? all[i].saved
								: all[i].size;
					if (at < all[i].start || at - all[i].start >= size)
						continue;
					if (all[i].start < start)
						start = all[i].start;
					if (all[i].start + size > end)
						end = all[i].start + size;
				}
				bool found = rcore_segment_index_find(
					&index, (enum rcore_segment_part)part, at, &got_start,
					&got_end);
				ck_assert(found == (end != 0));
				if (!found)
					continue;
				ck_assert_uint_eq(got_start, start);
				ck_assert_uint_eq(got_end, end);
			}
		rcore_segment_index_deinit(&index);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {finds, no_segments, any_segments};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "segment_index", .tests = tests, .count = RCORE_COUNT(tests)});
}
