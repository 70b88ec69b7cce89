/* SPDX-License-Identifier: MIT */
/*
 * Tests scans of a child of this program. The child keeps what this program
 * overwrites afterwards.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/count.h"
#include "live_child.h"
#include "target/live/live_scan.h"
#include "suite.h"

enum { WORDS = 1 << 20, RANGES = 600, FEW = 20 };

struct seen {
	const uint64_t *words; /* of the child */
	const struct rcore_live_range *ranges;
	int counts[RANGES], threads[RANGES];
	int wrong[2];   /* by thread */
	size_t refused; /* the range that visit() rejects; 0: none */
	size_t last[RCORE_LIVE_SCAN_THREADS];
};

/* In the child, each word is a hash of its index. */
static uint64_t word_of(size_t index)
{
	return (index + 1) * 0x9e3779b97f4a7c15;
}

static bool visit(void *context, int thread, size_t index, const uint8_t *bytes)
{
	struct seen *seen = context;
	const struct rcore_live_range *range = &seen->ranges[index];
	size_t first = (range->start - address_of(seen->words)) / sizeof(uint64_t);
	uint64_t word;
	seen->counts[index]++;
	seen->threads[index] = thread;
	seen->wrong[thread] += seen->last[thread] > index;
	seen->last[thread] = index;
	for (size_t i = 0; i < range->size / sizeof(word); i++) {
		memcpy(&word, bytes + i * sizeof(word), sizeof(word));
		seen->wrong[thread] += word != word_of(first + i);
	}
	return !seen->refused || index != seen->refused;
}

/* Up to `most` words each, anywhere in the memory. */
static void draw(struct rcore_live_range *ranges, const uint64_t *words, size_t most)
{
	for (size_t i = 0; i < RANGES; i++) {
		size_t count = 1 + (size_t)rand() % most;
		size_t first = (size_t)rand() % (WORDS - count);
		ranges[i] = (struct rcore_live_range){.start = address_of(words + first),
						      .size = count * sizeof(*words)};
	}
}

/*
 * In address order and mostly near each other, as heap_page structs are. The
 * last one ends where the memory does.
 */
static void draw_near(struct rcore_live_range *ranges, const uint64_t *words, size_t most)
{
	const uint64_t end = address_of(words + WORDS);
	uint64_t at = end;
	for (size_t i = RANGES; i-- > 0;) {
		size_t size = (1 + (size_t)rand() % most) * sizeof(*words);
		size_t gap = (size_t)rand() % 4 ? 0 : (size_t)rand() % 600 * sizeof(*words);
		at -= size + (at == end ? 0 : gap);
		ranges[i] = (struct rcore_live_range){.start = at, .size = size};
	}
	ck_assert_uint_ge(at, address_of(words));
}

/* A second thread is not worth its start if there is little to read. */
static void check_seen(const struct seen *seen, size_t count)
{
	ck_assert_int_eq(seen->wrong[0] + seen->wrong[1], 0);
	for (size_t i = 0; i < RANGES; i++) {
		ck_assert_int_eq(seen->counts[i], i < count);
		if (i && i < count)
			ck_assert_int_ge(seen->threads[i], seen->threads[i - 1]);
	}
	if (count < RANGES)
		ck_assert_int_eq(seen->threads[count - 1], 0);
}

/* After the second scan: no range that follows the rejected one was visited. */
static void check_ended(const struct seen *seen)
{
	ck_assert_int_eq(seen->counts[seen->refused], 2);
	for (size_t i = seen->refused + 1; i < RANGES; i++)
		if (seen->threads[i] == seen->threads[seen->refused])
			ck_assert_int_eq(seen->counts[i], 1);
}

static uint64_t *new_words(void)
{
	uint64_t *words = mmap(NULL, WORDS * sizeof(*words) + 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(words, MAP_FAILED);
	for (size_t i = 0; i < WORDS; i++)
		words[i] = word_of(i);
	munmap(words + WORDS, 4096);
	return words;
}

START_TEST(visits_each_range_once)
{
	static const size_t sizes[] = {20, 2000, RCORE_LIVE_SCAN_MOST / 8};
	struct rcore_live_range ranges[RANGES];
	uint64_t *words = new_words();
	struct child child = child_start(child_counts, NULL);
	memset(words, 0xff, WORDS * sizeof(*words));
	struct rcore_live *live = live_opened(child.pid);
	srand((unsigned)time(NULL));
	for (int i = 0; i < 12; i++) {
		struct seen seen = {.words = words, .ranges = ranges};
		const size_t count = i % 3 ? RANGES : FEW;
		if (i % 4 < 2)
			draw(ranges, words, sizes[i % 3]);
		else
			draw_near(ranges, words, i % 3 ? 500 : 20);
		live_begun(live, i % 2);
		ck_assert(rcore_live_scan(live, false, ranges, count, visit, &seen));
		live_ended(live);
		check_seen(&seen, count);
		ck_assert(!rcore_live_scan(live, false, ranges, count, visit, &seen));
		seen = (struct seen){.words = words, .ranges = ranges};
		ck_assert(rcore_live_scan(live, true, ranges, count, visit, &seen));
		check_seen(&seen, count);
	}
	rcore_live_close(live);
	child_stop(&child);
	munmap(words, WORDS * sizeof(*words));
}
END_TEST

/* The caller then has to read in another way. */
START_TEST(fails_if_a_range_cannot_be_read)
{
	struct rcore_live_range ranges[RANGES];
	uint64_t *words = new_words();
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct seen seen = {.words = words, .ranges = ranges};
	srand((unsigned)time(NULL));
	draw(ranges, words, 2000);
	live_begun(live, true);
	ck_assert(rcore_live_scan(live, false, ranges, RANGES, visit, &seen));
	seen.refused = 1 + (size_t)rand() % (RANGES - 1);
	ck_assert(!rcore_live_scan(live, false, ranges, RANGES, visit, &seen));
	check_ended(&seen);
	seen.refused = 0;
	size_t bad = (size_t)rand() % RANGES;
	ranges[bad].start = address_of(words + WORDS) - 8;
	ranges[bad].size = 16;
	ck_assert(!rcore_live_scan(live, false, ranges, RANGES, visit, &seen));
	ranges[bad].start = address_of(words);
	ranges[bad].size = RCORE_LIVE_SCAN_MOST + 8;
	ck_assert(!rcore_live_scan(live, false, ranges, RANGES, visit, &seen));
	ranges[bad].size = RCORE_LIVE_SCAN_MOST;
	ck_assert(rcore_live_scan(live, false, ranges, RANGES, visit, &seen));
	rcore_live_close(live);
	child_stop(&child);
	munmap(words, WORDS * sizeof(*words));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {visits_each_range_once, fails_if_a_range_cannot_be_read};
	const struct rcore_test_suite suite = {
		.name = "live, scanned",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.timeout = 120,
	};
	return rcore_test_suite_run(&suite);
}
