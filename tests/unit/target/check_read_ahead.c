/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/count.h"
#include "target/core/read_ahead.h"
#include "target/output/output.h"
#include "suite.h"

#define TEXT "this is data"

/* Some data after each other, far apart, and at the very end. */
static const off_t sparse[] = {0, 100000, 130000, 20 << 20, 60 << 20};
static const off_t dense[] = {0};
static const off_t hole[] = {64 << 20};

static const struct {
	const off_t *data;
	size_t count;
} files[] = {{sparse, RCORE_COUNT(sparse)},
	     {dense, RCORE_COUNT(dense)},
	     {hole, RCORE_COUNT(hole)},
	     {0}};

/* Ranges that are in the file, in part, and not at all. */
static void note_some(struct rcore_read_ahead *ahead)
{
	static const uint64_t ranges[][2] = {
		{60 << 20, 4096}, {100000, 1},        {0, UINT64_MAX},    {UINT64_MAX, 9},
		{50 << 20, 0},    {1 << 20, 1 << 20}, {(64 << 20) - 1, 2}};
	for (size_t i = 0; i < RCORE_COUNT(ranges); i++)
		rcore_read_ahead_note(ahead, ranges[i][0], ranges[i][1]);
}

/*
 * Neither what is read nor the offset changes, whether the file is in memory or
 * not.
 */
START_TEST(changes_nothing)
{
	enum { OFFSET = 5 };
	struct rcore_mapped_file map;
	int fd = rcore_temporary_open();
	ck_assert_int_ge(fd, 0);
	for (size_t i = 0; i < files[_i].count; i++)
		ck_assert_int_eq(pwrite(fd, TEXT, strlen(TEXT), files[_i].data[i]),
				 strlen(TEXT));
	ck_assert_int_eq(lseek(fd, OFFSET, SEEK_SET), OFFSET);
	ck_assert_int_eq(rcore_map_descriptor(fd, false, &map), 0);
	for (int round = 0; round < 3; round++) {
		if (round)
			posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		else
			ck_assert_int_eq(fsync(fd), 0);
		struct rcore_read_ahead *ahead = rcore_read_ahead_start(fd, &map);
		rcore_read_ahead_send(ahead);
		note_some(ahead);
		rcore_read_ahead_send(ahead);
		for (size_t i = 0; i < files[_i].count; i++)
			ck_assert_mem_eq(map.bytes + files[_i].data[i], TEXT, strlen(TEXT));
		note_some(ahead);
		rcore_read_ahead_stop(ahead);
		ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), OFFSET);
	}
	rcore_unmap_file(&map);
	close(fd);
}
END_TEST

/* A pipe, and a file that became shorter. */
START_TEST(needs_nothing)
{
	struct rcore_mapped_file map;
	int ends[2], fd = rcore_temporary_open();
	ck_assert_int_eq(pwrite(fd, TEXT, strlen(TEXT), 64 << 20), strlen(TEXT));
	ck_assert_int_eq(rcore_map_descriptor(fd, false, &map), 0);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_ptr_null(rcore_read_ahead_start(ends[0], &map));
	ck_assert_ptr_null(rcore_read_ahead_start(-1, &map));
	ck_assert(!rcore_read_ahead_by_page(-1, &map));
	ck_assert(rcore_read_ahead_by_page(fd, &map));
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	struct rcore_read_ahead *ahead = rcore_read_ahead_start(fd, &map);
	note_some(ahead);
	rcore_read_ahead_send(ahead);
	rcore_read_ahead_stop(ahead);
	note_some(NULL);
	rcore_read_ahead_send(NULL);
	rcore_read_ahead_stop(NULL);
	rcore_unmap_file(&map);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

static bool is_resident(const struct rcore_mapped_file *map, size_t offset)
{
	unsigned char resident = 0;
	ck_assert_int_eq(mincore((uint8_t *)map->bytes + offset, 1, &resident), 0);
	return resident & 1;
}

/*
 * Of a file with few holes, only what is sent is read. A file system that keeps
 * files in memory reads nothing.
 */
START_TEST(reads_what_is_sent)
{
	enum { SIZE = 1 << 20, SENT = 512 << 10 };
	struct rcore_mapped_file map;
	char *bytes = calloc(1, SIZE);
	int fd = rcore_temporary_open();
	ck_assert_int_eq(pwrite(fd, bytes, SIZE, 0), SIZE);
	ck_assert_int_eq(fsync(fd), 0);
	ck_assert_int_eq(rcore_map_descriptor(fd, false, &map), 0);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	struct rcore_read_ahead *ahead = rcore_read_ahead_start(fd, &map);
	/* The file system may have kept a part of it. */
	bool was_resident = is_resident(&map, 0);
	ck_assert(ahead || is_resident(&map, SENT));
	if (ahead) {
		rcore_read_ahead_send(ahead);
		rcore_read_ahead_note(ahead, SENT + 5, 1);
		rcore_read_ahead_send(ahead);
		while (!is_resident(&map, SENT))
			usleep(1000);
		ck_assert(was_resident || !is_resident(&map, 0));
	}
	rcore_read_ahead_stop(ahead);
	rcore_unmap_file(&map);
	close(fd);
	free(bytes);
}
END_TEST

int main(void)
{
	const TTest *const each[] = {changes_nothing}, *const once[] = {needs_nothing,
									reads_what_is_sent};
	return rcore_test_suite_run(&(struct rcore_test_suite){.name = "read ahead",
							       .tests = each,
							       .count = RCORE_COUNT(each),
							       .loops = RCORE_COUNT(files)}) |
	       rcore_test_suite_run(&(struct rcore_test_suite){.name = "read ahead of nothing",
							       .tests = once,
							       .count = RCORE_COUNT(once)});
}
