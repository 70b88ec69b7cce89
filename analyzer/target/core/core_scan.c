/* SPDX-License-Identifier: MIT */
#include "target/core/core_scan.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/page_buffer.h"
#include "base/second_thread.h"
#include "target/core/core.h"
#include "target/core/core_file.h"
#include "target/core/core_reader.h"

enum {
	/* Between two ranges that are read at once. */
	GAP = 4 << 10,
	/* Starting a thread takes as long as reading some 100 KB. */
	LEAST = 1 << 20,
	/* A thread takes 1/SHARES of all ranges, but at most MOST_TAKEN. */
	MOST_TAKEN = 64,
	SHARES = 32,
};

struct scan {
	const struct rcore_core *core;
	const struct rcore_live_range *ranges;
	rcore_live_scan_visit *visit;
	void *context;
	size_t count, taken; /* ranges, and how many of them a thread takes */
	atomic_size_t next;  /* the first range that no thread has taken */
	int fd;              /* -1: only the mapped file can be read */
	atomic_bool has_failed;
};

/* The part of the file that a thread has read, and who reads it. */
struct part {
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

static const uint8_t *bytes_of(struct part *part, size_t index)
{
	const struct rcore_live_range *range = &part->scan->ranges[index];
	return rcore_core_reader_bytes(&part->reader, range->start, range->size);
}

/* Reads the range at `bytes`, and those that follow it in the file. */
static bool fill(struct part *part, const uint8_t *bytes, size_t index, size_t to)
{
	const struct rcore_live_range *ranges = part->scan->ranges;
	const uint8_t *end = bytes + ranges[index].size, *next;
	for (size_t i = index + 1; i < to; i++) {
		next = bytes_of(part, i);
		if (!next || next < end || next - end > GAP)
			break;
		size_t before = (size_t)(next - bytes);
		if (before > RCORE_CORE_SCAN_MOST ||
		    ranges[i].size > RCORE_CORE_SCAN_MOST - before)
			break;
		end = next + ranges[i].size;
	}
	part->from = bytes;
	part->size = (size_t)(end - bytes);
	for (size_t done = 0; done < part->size;) {
		ssize_t some = pread(part->scan->fd, part->buffer + done, part->size - done,
				     bytes - part->file + (off_t)done);
		if (some <= 0)
			return false;
		done += (size_t)some;
	}
	return true;
}

static bool visit_range(struct part *part, int number, size_t index, size_t to)
{
	struct scan *scan = part->scan;
	size_t size = scan->ranges[index].size;
	const uint8_t *bytes = bytes_of(part, index);
	if (!bytes || size > RCORE_CORE_SCAN_MOST)
		return false;
	if (part->buffer) {
		if ((bytes < part->from || bytes + size > part->from + part->size) &&
		    !fill(part, bytes, index, to))
			return false;
		bytes = part->buffer + (bytes - part->from);
	}
	return scan->visit(scan->context, number, index, bytes);
}

/*
 * Ranges take different times, so threads take a few at a time, and neither
 * waits long for the other at the end.
 */
static bool take(struct scan *scan, size_t *ret_from, size_t *ret_to)
{
	size_t from = atomic_fetch_add(&scan->next, scan->taken);
	if (from >= scan->count || scan->has_failed)
		return false;
	*ret_from = from;
	*ret_to = scan->count - from < scan->taken ? scan->count : from + scan->taken;
	return true;
}

static void scan_part(void *context, int number, size_t ignored_from, size_t ignored_to)
{
	struct scan *scan = context;
	size_t from, to;
	(void)ignored_from;
	(void)ignored_to;
	struct part part = {
		.scan = scan,
		.file = rcore_core_file(scan->core)->bytes,
		.buffer = scan->fd < 0 ? NULL : rcore_page_buffer(RCORE_CORE_SCAN_MOST),
	};
	rcore_core_reader_init(&part.reader, scan->core);
	while (take(scan, &from, &to))
		for (size_t i = from; i < to && !scan->has_failed; i++)
			if (!visit_range(&part, number, i, to))
				scan->has_failed = true;
	free(part.buffer);
}

bool rcore_core_scan(const struct rcore_core *core, const struct rcore_live_range *ranges,
		     size_t count, rcore_live_scan_visit *visit, void *context)
{
	struct scan scan = {
		.core = core,
		.ranges = ranges,
		.visit = visit,
		.context = context,
		.count = count,
		.taken = count / SHARES < MOST_TAKEN ? count / SHARES + 1 : MOST_TAKEN,
		.fd = open_again(core),
	};
	size_t bytes = 0;
	for (size_t i = 0; i < count; i++)
		bytes += ranges[i].size;
	rcore_in_halves(bytes < LEAST ? count : count / 2, count, scan_part, &scan);
	if (scan.fd >= 0)
		close(scan.fd);
	return !scan.has_failed;
}
