/* SPDX-License-Identifier: MIT */
/* Which memory may refer to chunks: each byte once, however it is mapped. */
#include <elf.h>
#include <stdlib.h>

#include "base/count.h"
#include "session/heap/c_roots.h"
#include "suite.h"
#include "target/process.h"

enum { MANY = 1000 };

static void expect(const struct rcore_c_ranges *ranges, const struct rcore_malloc_range *rows,
		   size_t count)
{
	ck_assert_uint_eq(ranges->count, count);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(ranges->items[i].start, rows[i].start);
		ck_assert_uint_eq(ranges->items[i].end, rows[i].end);
	}
}

START_TEST(mappings)
{
	static struct rcore_segment segments[MANY + 4];
	static const struct rcore_malloc_range rows[] = {
		{0x1000, 0x2000}, {0x3000, 0x8000}, {0x8000, 0x9000}, {0xa800, 0xb000}};
	struct rcore_malloc_range known[] = {{0x2000, 0x3000}, {0xa000, 0xa800}};
	const struct rcore_c_ranges all = {known, RCORE_COUNT(known), RCORE_COUNT(known)};
	struct rcore_c_ranges ranges = {0};
	size_t count = 0;
	for (; count < MANY; count++)
		segments[count] = (struct rcore_segment){
			.start = 0x1000, .size = 0x7000, .saved = 0x7000, .writable = true};
	/* Inside, and beyond them; one is only read, and one is known in part. */
	segments[count++] = (struct rcore_segment){
		.start = 0x5000, .size = 0x100, .saved = 0x100, .writable = true};
	segments[count++] = (struct rcore_segment){
		.start = 0x7000, .size = 0x9000, .saved = 0x2000, .writable = true};
	segments[count++] =
		(struct rcore_segment){.start = 0x9000, .size = 0x1000, .saved = 0x1000};
	segments[count++] = (struct rcore_segment){
		.start = 0xa000, .size = 0x1000, .saved = 0x1000, .writable = true};
	const struct rcore_process process = {.segments = segments, .segment_count = count};
	ck_assert(rcore_c_mappings(&process, &all, &ranges));
	expect(&ranges, rows, RCORE_COUNT(rows));
	free(ranges.items);
}
END_TEST

/* Threads that share a mapping, from glibc 2.42 on, or all of a hostile core. */
START_TEST(stacks)
{
	static struct rcore_native_thread threads[MANY + 4];
	static const struct rcore_segment segments[] = {
		{.start = 0x1000, .size = 0x8000, .saved = 0x8000},
		{.start = 0x5000, .size = 0x100, .saved = 0x100},
		{.start = 0x20000, .size = 0x2000, .saved = 0x1000},
	};
	static const struct rcore_malloc_range rows[] = {{0x1000, 0x6000}, {0x6000, 0x9000}};
	const int sp = rcore_register_sp(EM_X86_64);
	struct rcore_c_ranges ranges = {0};
	for (size_t i = 0; i < RCORE_COUNT(threads); i++) {
		threads[i].has_registers = true;
		threads[i].registers[sp] = 0x1000;
	}
	threads[3].registers[sp] = 0x6000;
	threads[5].registers[sp] = 0x21000; /* is not saved */
	threads[6].registers[sp] = 0x30000;
	threads[7].registers[sp] = 0x7000;
	threads[7].has_registers = false;
	const struct rcore_process process = {.machine = EM_X86_64,
					      .segments = segments,
					      .segment_count = RCORE_COUNT(segments),
					      .threads = threads,
					      .thread_count = RCORE_COUNT(threads)};
	ck_assert(rcore_c_stacks(&process, &ranges));
	expect(&ranges, rows, RCORE_COUNT(rows));
	free(ranges.items);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {mappings, stacks};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "c_roots", .tests = tests, .count = RCORE_COUNT(tests)});
}
