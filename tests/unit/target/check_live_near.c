/* SPDX-License-Identifier: MIT */
/* Compares reads of ranges that are near each other with reads of each. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/count.h"
#include "live_child.h"
#include "target/live/live.h"
#include "suite.h"

enum {
	PAGE = 4096,
	PAGES = 64,
	HOLE = 9, /* each page whose number it divides is missing */
	RANGES = 600,
	ROUNDS = 50,
};

static void child_has_holes(struct child_shared *shared, const void *argument)
{
	shared->mapped = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < PAGES * PAGE; i++)
		shared->mapped[i] = (uint8_t)(i * 7 + i / PAGE);
	for (size_t page = HOLE; page < PAGES; page += HOLE)
		shared->failures |= munmap(shared->mapped + page * PAGE, PAGE) != 0;
	shared->is_ready = 1;
	for (;;)
		pause();
}

/* Ranges in order, or nearly so, as those of structs of one size are. */
static void draw(struct rcore_live_range *ranges, uint8_t *bytes, uint64_t start)
{
	size_t at = (size_t)rand() % PAGE;
	for (size_t i = 0; i < RANGES; i++) {
		size_t size = (size_t)rand() % 700;
		if (at + size >= PAGES * PAGE || rand() % 40 == 0)
			at = (size_t)rand() % (PAGES * PAGE / 2);
		ranges[i] = (struct rcore_live_range){
			.start = start + at, .size = size, .bytes = bytes + i * 700};
		at += size + (rand() % 4 ? (size_t)rand() % 100 : (size_t)rand() % 5000);
	}
}

START_TEST(reads_the_same)
{
	static struct rcore_live_range near[RANGES], single[RANGES];
	static uint8_t bytes[2][RANGES * 700];
	struct child child = child_start(child_has_holes, NULL);
	struct rcore_live *live = live_opened(child.pid);
	uint64_t start = address_of(child.shared->mapped);
	ck_assert_int_eq(child.shared->failures, 0);
	for (int round = 0; round < ROUNDS; round++) {
		size_t whole = 0;
		draw(near, bytes[0], start);
		memcpy(single, near, sizeof(near));
		memset(bytes, 0xa5, sizeof(bytes));
		rcore_live_read_near(live, near, RANGES);
		for (size_t i = 0; i < RANGES; i++) {
			single[i].bytes = bytes[1] + i * 700;
			rcore_live_read(live, &single[i], 1);
			ck_assert_uint_eq(near[i].read, single[i].read);
			whole += near[i].read == near[i].size;
			ck_assert_int_eq(memcmp(near[i].bytes, single[i].bytes, near[i].read),
					 0);
		}
		ck_assert_uint_gt(whole, RANGES / 2);
		ck_assert_uint_lt(whole, RANGES);
	}
	rcore_live_read_near(live, near, 0);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {reads_the_same};
	const struct rcore_test_suite suite = {
		.name = "live, ranges near each other",
		.tests = tests,
		.count = RCORE_COUNT(tests),
	};
	return rcore_test_suite_run(&suite);
}
