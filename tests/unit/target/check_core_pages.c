/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "core_builder.h"
#include "target/core/core.h"
#include "target/core/core_file.h"
#include "target/core/core_pages.h"
#include "target/output/output.h"
#include "suite.h"

enum { SIZE = (5000 << 12) + 123, PAGE = 4096 };

static uint8_t content[SIZE];

static int make_file(void)
{
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
	int fd = rcore_temporary_open();
	ck_assert_int_eq(pwrite(fd, content, SIZE, 0), SIZE);
	return fd;
}

static void check_read(struct rcore_core_pages *pages, uint64_t offset, size_t size)
{
	uint8_t buffer[5 * PAGE + 1];
	buffer[size] = 0xa5;
	ck_assert(rcore_core_pages_read(pages, offset, buffer, size));
	ck_assert(!memcmp(buffer, content + offset, size));
	ck_assert_uint_eq(buffer[size], 0xa5);
}

/* Reads within a page, across pages, of many pages, and at the end. */
START_TEST(reads_the_file)
{
	static const size_t sizes[] = {0, 1, 8, 600, PAGE - 1, PAGE, PAGE + 1, 5 * PAGE};
	int fd = make_file();
	struct rcore_core_pages *pages = rcore_core_pages_new(fd, SIZE);
	close(fd);
	for (int i = 0; i < 4000; i++) {
		size_t size = sizes[(size_t)i % RCORE_COUNT(sizes)];
		check_read(pages, (uint64_t)random() % (SIZE - size), size);
		check_read(pages, SIZE - size, size);
	}
	rcore_core_pages_free(pages);
}
END_TEST

START_TEST(fails_after_the_end)
{
	static const uint64_t offsets[] = {SIZE,          SIZE - 1,   SIZE + PAGE,
					   SIZE - 100000, UINT64_MAX, UINT64_MAX - PAGE,
					   INT64_MAX};
	uint8_t *buffer = malloc(200000);
	int fd = make_file();
	struct rcore_core_pages *pages = rcore_core_pages_new(fd, SIZE);
	for (size_t i = 0; i < RCORE_COUNT(offsets); i++) {
		ck_assert(!rcore_core_pages_read(pages, offsets[i], buffer, 200000));
		if (offsets[i] != SIZE - 100000)
			ck_assert(!rcore_core_pages_read(pages, offsets[i], buffer, 2));
	}
	/* What is kept can be read from a file that became shorter. */
	check_read(pages, 0, 8);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	check_read(pages, PAGE - 8, 8);
	ck_assert(!rcore_core_pages_read(pages, PAGE - 4, buffer, 8));
	ck_assert(!rcore_core_pages_read(pages, 0, buffer, PAGE));
	rcore_core_pages_free(pages);
	close(fd);
	free(buffer);
}
END_TEST

/* Repeated reads of one page suit; reads all over the file do not. */
START_TEST(notices_random_reads)
{
	int fd = make_file();
	struct rcore_core_pages *pages = rcore_core_pages_new(fd, SIZE);
	for (uint64_t offset = 0; offset + 8 < SIZE; offset += PAGE / 2)
		check_read(pages, offset, 8);
	for (int i = 0; i < 100000; i++)
		check_read(pages, SIZE / 2, 8);
	ck_assert(rcore_core_pages_suit(pages));
	for (int i = 0; i < 100000 && rcore_core_pages_suit(pages); i++)
		check_read(pages, (uint64_t)random() % (SIZE - 8), 8);
	ck_assert(!rcore_core_pages_suit(pages));
	check_read(pages, 0, 100);
	rcore_core_pages_free(pages);
	close(fd);
}
END_TEST

/* A walk through a heap asks for the mapping; the bytes are the same. */
START_TEST(gives_way_to_the_mapping)
{
	struct core_builder builder = {0};
	unsigned char bytes[3 * PAGE], before[100], after[100];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7 + i / PAGE);
	core_load(&builder, 0x10000, bytes, sizeof(bytes), sizeof(bytes), PF_R);
	size_t size;
	unsigned char *file = core_build(&builder, &size);
	struct rcore_core *core = NULL;
	ck_assert_ptr_null(rcore_core_open(write_file("core", file, size), &core));
	struct rcore_memory *memory = rcore_core_memory(core);
	uint64_t address = 0x10000 + PAGE - 50;
	ck_assert(rcore_core_pages_suit(rcore_core_file(core)->pages));
	ck_assert_int_eq(rcore_read(memory, address, before, sizeof(before)), 0);
	rcore_core_read_mapping(core);
	ck_assert(!rcore_core_pages_suit(rcore_core_file(core)->pages));
	ck_assert_int_eq(rcore_read(memory, address, after, sizeof(after)), 0);
	ck_assert_mem_eq(before, bytes + PAGE - 50, sizeof(before));
	ck_assert_mem_eq(after, before, sizeof(before));
	rcore_core_read_mapping(core);
	rcore_core_read_mapping(NULL);
	rcore_core_close(core);
	free(file);
	core_deinit(&builder);
}
END_TEST

START_TEST(needs_a_file)
{
	ck_assert_ptr_null(rcore_core_pages_new(-1, SIZE));
	ck_assert(!rcore_core_pages_suit(NULL));
	rcore_core_pages_free(NULL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {reads_the_file, fails_after_the_end, notices_random_reads,
				      gives_way_to_the_mapping, needs_a_file};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "core pages", .tests = tests, .count = RCORE_COUNT(tests)});
}
