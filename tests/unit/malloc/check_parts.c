/* SPDX-License-Identifier: MIT */
/* What is not read, because a core lacks it or has only zeroes there. */
#include <string.h>

#include "base/count.h"
#include "fake_target.h"
#include "malloc/owners.h"
#include "malloc/ptmalloc.h"
#include "suite.h"

enum { PAGE = 4096, BLOCK = 8 * PAGE };

/* What the note of a pack claims: more than could be read in a lifetime. */
#define CLAIMED (UINT64_C(1) << 46)

static struct fake_target fake;
static struct rcore_malloc heap;

/* A chunk with a mapping of its own, between zeroes. */
static uint64_t add_chunk(void)
{
	uint64_t start = fake_alloc(&fake, BLOCK, PAGE);
	fake_put(&fake, start + 8, BLOCK | RCORE_CHUNK_MMAPPED);
	return start;
}

START_TEST(mapped_chunks)
{
	memset(&heap, 0, sizeof(heap));
	fake_target_init(&fake);
	uint64_t first = add_chunk(), second = add_chunk();
	struct rcore_malloc_part parts[] = {
		{PAGE, first, true},
		{first, first + BLOCK, false},
		{second, second + BLOCK, false},
		{second + BLOCK, second + CLAIMED, true},
	};
	/* The second one overlaps the first. */
	const struct rcore_segment segments[] = {
		{.start = PAGE, .size = CLAIMED, .saved = CLAIMED, .writable = true},
		{.start = first, .size = CLAIMED, .saved = CLAIMED, .writable = true},
	};
	const struct rcore_malloc_source source = {
		.memory = &fake.memory,
		.parts = {true, parts, RCORE_COUNT(parts), RCORE_COUNT(parts)},
		.segments = segments,
		.segment_count = RCORE_COUNT(segments),
	};
	ck_assert_ptr_null(rcore_pt_find_mmapped(&source, &heap));
	ck_assert_uint_eq(heap.chunk_count, 2);
	ck_assert_uint_eq(heap.regions[0].start, first);
	ck_assert_uint_eq(heap.regions[1].start, second);
	/* Each page at most, and each power of two below the size. */
	ck_assert_uint_le(fake.reads, 2 * (BLOCK / PAGE + 2 * 48));
	rcore_malloc_deinit(&heap);
	fake_target_deinit(&fake);
}
END_TEST

/* What is after the end of a segment does not matter to it. */
START_TEST(next_filled)
{
	struct rcore_malloc_part items[] = {
		{0x1000, 0x2000, true},
		{0x3000, 0x4000, true},
		{0x4000, 0x5000, true},
		{0x5000, 0x6000, false},
	};
	static const struct {
		uint64_t address, end, next;
	} rows[] = {
		{0x1000, 0x2000, UINT64_MAX}, {0x1000, 0x4800, UINT64_MAX},
		{0x1000, 0x5000, UINT64_MAX}, {0x1000, 0x5001, 0x5000},
		{0x5000, 0x5001, 0x5000},     {0x5800, 0x7000, 0x5800},
		{0x6000, 0x7000, UINT64_MAX}, {0, UINT64_MAX, 0x5000},
	};
	const struct rcore_malloc_parts parts = {true, items, RCORE_COUNT(items),
						 RCORE_COUNT(items)};
	for (size_t i = 0; i < RCORE_COUNT(rows); i++)
		ck_assert_uint_eq(
			rcore_malloc_next_filled(&parts, rows[i].address, rows[i].end),
			rows[i].next);
	const struct rcore_malloc_parts unknown = {0};
	ck_assert_uint_eq(rcore_malloc_next_filled(&unknown, 0x1234, 0x2000), 0x1234);
}
END_TEST

START_TEST(owners)
{
	enum { OWNER = 3 };
	struct rcore_chunk_owners found;
	memset(&heap, 0, sizeof(heap));
	fake_target_init(&fake);
	uint64_t chunk = add_chunk(), words = fake_alloc(&fake, PAGE, PAGE);
	ck_assert(
		rcore_malloc_add_region(&heap, chunk, chunk + BLOCK, RCORE_CHUNK_REGION_MMAP));
	ck_assert(rcore_malloc_add_chunk(&heap, chunk));
	fake_put(&fake, words + 16, chunk + 16);
	struct rcore_malloc_part parts[] = {
		{words - CLAIMED, words, true},
		{words, words + PAGE, false},
		{words + PAGE, words + CLAIMED, true},
	};
	const struct rcore_malloc_parts all = {true, parts, RCORE_COUNT(parts),
					       RCORE_COUNT(parts)};
	ck_assert_ptr_null(rcore_chunk_owners_init(&fake.memory, &all, &heap, &found));
	rcore_chunk_owners_give_range(&found, words - CLAIMED, words + CLAIMED, OWNER);
	ck_assert_uint_eq(found.owner[0], OWNER);
	ck_assert_uint_le(fake.reads, 2);
	rcore_chunk_owners_deinit(&found);
	rcore_malloc_deinit(&heap);
	fake_target_deinit(&fake);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {mapped_chunks, next_filled, owners};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "parts", .tests = tests, .count = RCORE_COUNT(tests)});
}
