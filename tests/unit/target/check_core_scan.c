/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "core_builder.h"
#include "suite.h"
#include "target/core/core.h"
#include "target/core/core_scan.h"

#define START UINT64_C(0x10000000)
enum { SIZE = 4 << 20, RANGES = 1000, WORD = sizeof(uint64_t) };

static const char *path;
static struct rcore_core *core;

/* Every word is its own address. */
static void make_core(void)
{
	struct core_builder builder = {0};
	uint64_t *words = calloc(SIZE, 1);
	size_t size;
	ck_assert(words);
	for (size_t i = 0; i < SIZE / WORD; i++)
		words[i] = START + i * WORD;
	core_note_status(&builder, 1, 6, 0, 0, 0);
	core_load(&builder, START, words, SIZE, SIZE + 4096, 6);
	unsigned char *bytes = core_build(&builder, &size);
	path = write_file("core", bytes, size);
	ck_assert_ptr_null(rcore_core_open(path, &core));
	free(bytes);
	free(words);
	core_deinit(&builder);
}

static void close_core(void)
{
	rcore_core_close(core);
	core = NULL;
}

struct seen {
	const struct rcore_live_range *ranges;
	size_t next[2]; /* by thread: the least index that it may see next */
	size_t count[2];
	bool is_wrong[2];
	char times[RANGES]; /* that each was seen */
};

static bool see(void *context, int thread, size_t index, const uint8_t *bytes)
{
	struct seen *seen = context;
	const struct rcore_live_range *range = &seen->ranges[index];
	seen->is_wrong[thread] |= index < seen->next[thread] || seen->times[index]++;
	seen->count[thread]++;
	seen->next[thread] = index + 1;
	for (size_t i = 0; i < range->size / WORD; i++) {
		uint64_t word;
		memcpy(&word, bytes + i * WORD, WORD);
		seen->is_wrong[thread] |= word != range->start + i * WORD;
	}
	return true;
}

static bool scan(const struct rcore_live_range *ranges, size_t count)
{
	struct seen seen = {.ranges = ranges};
	bool is_complete = rcore_core_scan(core, ranges, count, see, &seen);
	ck_assert(!seen.is_wrong[0] && !seen.is_wrong[1]);
	if (is_complete)
		ck_assert_uint_eq(seen.count[0] + seen.count[1], count);
	return is_complete;
}

/* Ranges of all sizes, far apart, side by side, over each other, in any order. */
static void make_ranges(struct rcore_live_range ranges[RANGES])
{
	static const size_t sizes[] = {8, 64, 4096, 16 << 10, 64 << 10, RCORE_CORE_SCAN_MOST};
	uint64_t at = 0;
	for (size_t i = 0; i < RANGES; i++) {
		size_t size = sizes[(size_t)rand() % RCORE_COUNT(sizes)];
		if (rand() % 8 == 0)
			at = (uint64_t)rand() % SIZE / WORD * WORD;
		if (at + size > SIZE)
			at = 0;
		ranges[i] = (struct rcore_live_range){.start = START + at, .size = size};
		at += size + (uint64_t)(rand() % 4) * 1024;
	}
}

START_TEST(visits_each_once)
{
	struct rcore_live_range ranges[RANGES];
	srand((unsigned)_i);
	make_core();
	make_ranges(ranges);
	ck_assert(scan(ranges, RANGES));
	ck_assert(scan(ranges, 1));
	ck_assert(scan(ranges, 0));
}
END_TEST

START_TEST(fails_if_a_range_is_missing)
{
	static const struct rcore_live_range missing[] = {
		{.start = START - 8, .size = 16},
		{.start = START + SIZE - 8, .size = 16},
		{.start = START + SIZE, .size = 8},
		{.start = 0, .size = 8},
		{.start = UINT64_MAX - 7, .size = 4096},
		{.start = START, .size = SIZE_MAX},
		{.start = START, .size = RCORE_CORE_SCAN_MOST + 8},
	};
	struct rcore_live_range ranges[RANGES];
	make_core();
	make_ranges(ranges);
	ranges[_i * 77] = missing[(size_t)_i % RCORE_COUNT(missing)];
	ck_assert(!scan(ranges, RANGES));
}
END_TEST

/* Another core may be written to the same path. */
START_TEST(reads_the_file_that_it_opened)
{
	struct rcore_live_range ranges[RANGES];
	char zeroes[SIZE / 64] = {0};
	make_core();
	make_ranges(ranges);
	const char *other = write_file("other", zeroes, sizeof(zeroes));
	ck_assert_int_eq(rename(other, path), 0);
	ck_assert(scan(ranges, RANGES));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert(scan(ranges, RANGES));
}
END_TEST

START_TEST(fails_if_the_file_is_cut)
{
	struct rcore_live_range ranges[RANGES];
	make_core();
	make_ranges(ranges);
	ranges[RANGES - 1] =
		(struct rcore_live_range){.start = START + SIZE - 4096, .size = 4096};
	ck_assert_int_eq(truncate(path, SIZE / 2), 0);
	ck_assert(!scan(ranges, RANGES));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {visits_each_once, fails_if_a_range_is_missing,
				      reads_the_file_that_it_opened, fails_if_the_file_is_cut};
	const struct rcore_test_suite suite = {
		.name = "core_scan",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.loops = 12,
		.timeout = 60,
		.end = close_core,
	};
	return rcore_test_suite_run(&suite);
}
