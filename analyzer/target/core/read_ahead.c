/* SPDX-License-Identifier: MIT */
#include "target/core/read_ahead.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	/* Of data; the analysis may need only a part of more. */
	LIMIT = 1 << 30,
	/* Of this size, a hole costs less than another request. */
	HOLE = 32 << 10,
	/* The kernel may read no more than this for one request. */
	REQUEST = 128 << 10,
	PROBES = 64,
	BLOCK = 512, /* of st_blocks */
};

static uint8_t *page_of(const struct rcore_mapped_file *map, uint64_t offset)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	return (uint8_t *)map->bytes + (offset & -page);
}

/* Looks at some pages of data, from the first to the last. */
static bool is_in_memory(int fd, const struct rcore_mapped_file *map)
{
	for (uint64_t i = 0; i < PROBES; i++) {
		unsigned char is_resident = 0;
		off_t at = lseek(fd, (off_t)(map->size / PROBES * i), SEEK_DATA);
		if (at < 0 || (uint64_t)at >= map->size)
			continue;
		if (mincore(page_of(map, (uint64_t)at), 1, &is_resident))
			return true;
		if (!(is_resident & 1))
			return false;
	}
	return true;
}

static void read_range(const struct rcore_mapped_file *map, uint64_t start, uint64_t end)
{
	if (end > map->size)
		end = map->size;
	for (; start < end; start += REQUEST) {
		uint64_t left = end - start, size = left < REQUEST ? left : REQUEST;
		uint8_t *from = page_of(map, start);
		madvise(from, (size_t)(map->bytes + start + size - from), MADV_WILLNEED);
	}
}

static void read_data(int fd, const struct rcore_mapped_file *map)
{
	uint64_t start = 0, end = 0;
	off_t from = 0, to;
	while ((from = lseek(fd, from, SEEK_DATA)) >= 0) {
		to = lseek(fd, from, SEEK_HOLE);
		if (to <= from)
			break;
		if ((uint64_t)from > end + HOLE) {
			read_range(map, start, end);
			start = (uint64_t)from;
		}
		end = (uint64_t)to;
		from = to;
	}
	read_range(map, start, end);
}

void rcore_core_read_ahead(int fd, const struct rcore_mapped_file *map)
{
	struct stat status;
	off_t offset = lseek(fd, 0, SEEK_CUR);
	if (offset < 0 || !map->size || fstat(fd, &status))
		return;
	uint64_t data = (uint64_t)status.st_blocks * BLOCK;
	if (data > LIMIT || data > map->size / 2)
		return;
	madvise((void *)map->bytes, map->size, MADV_RANDOM);
	if (!is_in_memory(fd, map))
		read_data(fd, map);
	lseek(fd, offset, SEEK_SET);
}
