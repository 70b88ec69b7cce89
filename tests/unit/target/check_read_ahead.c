/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

/* Advice changes neither what is read nor the offset, whether the file is in memory or not. */
START_TEST(only_advises)
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
		rcore_core_read_ahead(fd, &map);
		ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), OFFSET);
		for (size_t i = 0; i < files[_i].count; i++)
			ck_assert_mem_eq(map.bytes + files[_i].data[i], TEXT, strlen(TEXT));
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
	rcore_core_read_ahead(ends[0], &map);
	rcore_core_read_ahead(-1, &map);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	rcore_core_read_ahead(fd, &map);
	rcore_unmap_file(&map);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

int main(void)
{
	const TTest *const each[] = {only_advises}, *const once[] = {needs_nothing};
	return rcore_test_suite_run(&(struct rcore_test_suite){.name = "read ahead",
							       .tests = each,
							       .count = RCORE_COUNT(each),
							       .loops = RCORE_COUNT(files)}) |
	       rcore_test_suite_run(&(struct rcore_test_suite){.name = "read ahead of nothing",
							       .tests = once,
							       .count = RCORE_COUNT(once)});
}
