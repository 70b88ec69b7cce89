/* SPDX-License-Identifier: MIT */
#include "target/core/core_scan.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/second_thread.h"
#include "target/core/core.h"
#include "target/core/core_file.h"
#include "target/core/core_reader.h"

enum {
	/* Between two ranges that are read at once. */
	GAP = 4 << 10,
	/* Starting a thread takes as long as reading some 100 KB. */
	LEAST = 1 << 20,
};

struct scan {
	const struct rcore_core *core;
	const struct rcore_live_range *ranges;
	rcore_live_scan_visit *visit;
	void *context;
	int fd; /* -1: only the mapped file can be read */
	atomic_bool has_failed;
};

/* The part of the file that a thread has read, and who reads it. */
struct half {
	struct scan *scan;
	struct rcore_core_reader reader;
	const uint8_t *file;
	/* Of RCORE_CORE_SCAN_MOST bytes; NULL: the mapped bytes are visited. */
	uint8_t *buffer;
	/* The mapped bytes of which it has a copy. */
	const uint8_t *from;
	size_t size;
};

/*
 * Opens the mapped file again; -1 if its path leads to another one, or it has
 * none.
 */
static int open_again(const struct rcore_core *core)
{
	const struct rcore_mapped_file *map = &rcore_core_file(core)->map;
	const char *path = rcore_core_process(core)->source;
	struct stat status;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	if (fd >= 0 && (fstat(fd, &status) || status.st_dev != map->device ||
			status.st_ino != map->file)) {
		close(fd);
		return -1;
	}
	return fd;
}

static const uint8_t *bytes_of(struct half *half, size_t index)
{
	const struct rcore_live_range *range = &half->scan->ranges[index];
	return rcore_core_reader_bytes(&half->reader, range->start, range->size);
}

/* Reads the range at `bytes`, and those that follow it in the file. */
static bool fill(struct half *half, const uint8_t *bytes, size_t index, size_t to)
{
	const struct rcore_live_range *ranges = half->scan->ranges;
	const uint8_t *end = bytes + ranges[index].size, *next;
	for (size_t i = index + 1; i < to; i++) {
		next = bytes_of(half, i);
		if (!next || next < end || next - end > GAP)
			break;
		size_t before = (size_t)(next - bytes);
		if (before > RCORE_CORE_SCAN_MOST ||
		    ranges[i].size > RCORE_CORE_SCAN_MOST - before)
			break;
		end = next + ranges[i].size;
	}
	half->from = bytes;
	half->size = (size_t)(end - bytes);
	for (size_t done = 0; done < half->size;) {
		ssize_t some = pread(half->scan->fd, half->buffer + done, half->size - done,
				     bytes - half->file + (off_t)done);
		if (some <= 0)
			return false;
		done += (size_t)some;
	}
	return true;
}

static bool visit_range(struct half *half, int number, size_t index, size_t to)
{
	struct scan *scan = half->scan;
	size_t size = scan->ranges[index].size;
	const uint8_t *bytes = bytes_of(half, index);
	if (!bytes || size > RCORE_CORE_SCAN_MOST)
		return false;
	if (half->buffer) {
		if ((bytes < half->from || bytes + size > half->from + half->size) &&
		    !fill(half, bytes, index, to))
			return false;
		bytes = half->buffer + (bytes - half->from);
	}
	return scan->visit(scan->context, number, index, bytes);
}

static void scan_half(void *context, int number, size_t from, size_t to)
{
	struct scan *scan = context;
	struct half half = {
		.scan = scan,
		.file = rcore_core_file(scan->core)->bytes,
		.buffer = scan->fd < 0 ? NULL : malloc(RCORE_CORE_SCAN_MOST),
	};
	rcore_core_reader_init(&half.reader, scan->core);
	for (size_t i = from; i < to && !scan->has_failed; i++)
		if (!visit_range(&half, number, i, to))
			scan->has_failed = true;
	free(half.buffer);
}

bool rcore_core_scan(const struct rcore_core *core, const struct rcore_live_range *ranges,
		     size_t count, rcore_live_scan_visit *visit, void *context)
{
	struct scan scan = {
		.core = core,
		.ranges = ranges,
		.visit = visit,
		.context = context,
		.fd = open_again(core),
	};
	size_t bytes = 0, first = 0, middle = 0;
	for (size_t i = 0; i < count; i++)
		bytes += ranges[i].size;
	while (first < bytes / 2)
		first += ranges[middle++].size;
	rcore_in_halves(bytes < LEAST ? count : middle, count, scan_half, &scan);
	if (scan.fd >= 0)
		close(scan.fd);
	return !scan.has_failed;
}
