/* SPDX-License-Identifier: MIT */
#include "target/core/read_ahead.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/order.h"

enum {
	/* Bytes of data; the analysis may need only a part of a larger core. */
	LIMIT = 1 << 30,
	/* Reading a hole of this size costs less than another request. */
	HOLE = 32 << 10,
	/* The kernel may read no more than this for one request. */
	REQUEST = 128 << 10,
	/* Ranges of this size are read as soon as they are found. */
	LARGE = 64 << 10,
	/* Ranges that are sorted by offset before they are read. */
	BATCH = 1024,
	/* Ranges that may be noted before they are sent. */
	MOST = 1 << 20,
	PROBES = 64,
	BLOCK = 512, /* of st_blocks */
	STACK = 256 << 10,
};

struct range {
	uint64_t start, end;
};

struct ranges {
	struct range *items;
	size_t count, capacity;
};

struct rcore_read_ahead {
	struct rcore_mapped_file map;
	int fd;
	off_t offset; /* of the caller */
	bool reads_all;
	pthread_t thread;
	atomic_bool is_over;

	struct ranges data;  /* of the file; belongs to the thread */
	struct ranges noted; /* belongs to the caller */

	pthread_mutex_t lock;
	pthread_cond_t change;
	struct ranges sent; /* with `lock` held */
	size_t done;        /* of those */
	bool wants_rest;
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

static void read_range(const struct rcore_read_ahead *ahead, struct range range)
{
	const struct rcore_mapped_file *map = &ahead->map;
	while (range.start < range.end && !ahead->is_over) {
		uint64_t left = range.end - range.start;
		uint64_t size = left < REQUEST ? left : REQUEST;
		uint8_t *from = page_of(map, range.start);
		madvise(from, (size_t)(map->bytes + range.start + size - from), MADV_WILLNEED);
		range.start += size;
	}
}

/* Reads the ranges of data that `wanted` touches, unless they were read. */
static void read_data(struct rcore_read_ahead *ahead, struct range wanted)
{
	struct ranges *data = &ahead->data;
	size_t low = RCORE_PARTITION_POINT(data->count, middle,
					   data->items[middle].end <= wanted.start);
	for (; low < data->count && data->items[low].start < wanted.end; low++) {
		struct range *range = &data->items[low];
		read_range(ahead, *range);
		range->start = range->end;
	}
}

/* The heap, which is needed first, is in a few large ranges. */
static void add_data(struct rcore_read_ahead *ahead, struct range range)
{
	struct range *later = NULL;
	if (range.end - range.start < LARGE)
		later = rcore_push(&ahead->data);
	if (later)
		*later = range;
	else
		read_range(ahead, range);
}

static void find_data(struct rcore_read_ahead *ahead)
{
	struct range range = {0};
	uint64_t size = ahead->map.size;
	off_t from = 0, to;
	while ((from = lseek(ahead->fd, from, SEEK_DATA)) >= 0 && !ahead->is_over) {
		to = lseek(ahead->fd, from, SEEK_HOLE);
		if (to <= from || (uint64_t)from >= size)
			break;
		if ((uint64_t)to > size)
			to = (off_t)size;
		if ((uint64_t)from > range.end + HOLE) {
			add_data(ahead, range);
			range.start = (uint64_t)from;
		}
		range.end = (uint64_t)to;
		from = to;
	}
	add_data(ahead, range);
}

/*
 * Removes the next range that was sent or, if there is none, the last one of
 * the rest. The rest has the stacks in many small ranges, the newest first,
 * because the kernel maps downwards, and so does the pool of fibers within a
 * mapping (fiber_pool_expand() of cont.c). The oldest ones are needed first.
 * Returns false if nothing is needed any more.
 */
static bool take(struct rcore_read_ahead *ahead, struct range *ret, bool *ret_sent)
{
	pthread_mutex_lock(&ahead->lock);
	while (!ahead->is_over && ahead->done == ahead->sent.count &&
	       !(ahead->wants_rest && ahead->data.count))
		pthread_cond_wait(&ahead->change, &ahead->lock);
	*ret_sent = ahead->done < ahead->sent.count;
	if (*ret_sent)
		*ret = ahead->sent.items[ahead->done++];
	else if (!ahead->is_over)
		*ret = ahead->data.items[--ahead->data.count];
	pthread_mutex_unlock(&ahead->lock);
	return !ahead->is_over;
}

static void *work(void *argument)
{
	struct rcore_read_ahead *ahead = argument;
	struct range range;
	bool was_sent;
	if (ahead->reads_all)
		find_data(ahead);
	while (take(ahead, &range, &was_sent)) {
		if (was_sent && ahead->reads_all)
			read_data(ahead, range);
		else
			read_range(ahead, range);
	}
	return NULL;
}

/*
 * Starts the thread with all signals blocked: those are for the caller. A
 * filter of system calls (base/confine.h) answers with SIGSYS in the thread
 * itself.
 */
static bool start(struct rcore_read_ahead *ahead)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setstacksize(&attributes, STACK);
	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	bool done = !pthread_create(&ahead->thread, &attributes, work, ahead);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return done;
}

static void free_ahead(struct rcore_read_ahead *ahead)
{
	if (ahead->fd >= 0) {
		lseek(ahead->fd, ahead->offset, SEEK_SET);
		close(ahead->fd);
	}
	pthread_cond_destroy(&ahead->change);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead->data.items);
	free(ahead->noted.items);
	free(ahead->sent.items);
	free(ahead);
}

static struct rcore_read_ahead *start_cold(int fd, off_t offset, bool reads_all,
					   const struct rcore_mapped_file *map)
{
	struct rcore_read_ahead *ahead = calloc(1, sizeof(*ahead));
	if (!ahead)
		return NULL;
	ahead->map = *map;
	ahead->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	ahead->offset = offset;
	ahead->reads_all = reads_all;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->change, NULL);
	if (start(ahead))
		return ahead;
	if (reads_all) {
		find_data(ahead);
		while (ahead->data.count)
			read_range(ahead, ahead->data.items[--ahead->data.count]);
	}
	free_ahead(ahead);
	return NULL;
}

/* Counts the bytes of a file that are not in holes. */
static bool count_data(int fd, uint64_t *ret)
{
	struct stat status;
	if (fstat(fd, &status))
		return false;
	*ret = (uint64_t)status.st_blocks * BLOCK;
	return true;
}

bool rcore_read_ahead_by_page(int fd, const struct rcore_mapped_file *map)
{
	uint64_t data;
	if (!count_data(fd, &data))
		return false;
	if (data > map->size / 2)
		return true;
	return data <= LIMIT && !posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
}

struct rcore_read_ahead *rcore_read_ahead_start(int fd, const struct rcore_mapped_file *map)
{
	uint64_t data;
	off_t offset = lseek(fd, 0, SEEK_CUR);
	if (offset < 0 || !map->size || !count_data(fd, &data))
		return NULL;
	bool reads_all = data <= LIMIT && data <= map->size / 2;
	bool is_cold = !is_in_memory(fd, map);
	lseek(fd, offset, SEEK_SET);
	if (!is_cold)
		return NULL;
	if (reads_all)
		madvise((void *)map->bytes, map->size, MADV_RANDOM);
	return start_cold(fd, offset, reads_all, map);
}

void rcore_read_ahead_note(struct rcore_read_ahead *ahead, uint64_t offset, uint64_t size)
{
	if (!ahead || offset >= ahead->map.size || ahead->noted.count >= MOST)
		return;
	struct range *range = rcore_push(&ahead->noted);
	uint64_t left = ahead->map.size - offset;
	if (range)
		*range = (struct range){offset, offset + (size < left ? size : left)};
}

static int by_start(const void *left, const void *right)
{
	const struct range *a = left, *b = right;
	return (a->start > b->start) - (a->start < b->start);
}

/* Sorts each batch by offset: a disk reads it faster in this order. */
static void sort(struct ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i += BATCH) {
		size_t left = ranges->count - i;
		qsort(&ranges->items[i], left < BATCH ? left : BATCH, sizeof(*ranges->items),
		      by_start);
	}
}

/* Joins ranges that overlap or have less than a HOLE between them. */
static void merge(struct ranges *ranges)
{
	size_t count = 0;
	for (size_t i = 0; i < ranges->count; i++) {
		const struct range *range = &ranges->items[i];
		struct range *last = count ? &ranges->items[count - 1] : NULL;
		if (last && range->start >= last->start && range->start <= last->end + HOLE) {
			if (range->end > last->end)
				last->end = range->end;
		} else {
			ranges->items[count++] = *range;
		}
	}
	ranges->count = count;
}

void rcore_read_ahead_send(struct rcore_read_ahead *ahead)
{
	if (!ahead)
		return;
	sort(&ahead->noted);
	merge(&ahead->noted);
	pthread_mutex_lock(&ahead->lock);
	for (size_t i = 0; i < ahead->noted.count; i++) {
		struct range *range = rcore_push(&ahead->sent);
		if (!range)
			break;
		*range = ahead->noted.items[i];
	}
	ahead->wants_rest = true;
	pthread_cond_signal(&ahead->change);
	pthread_mutex_unlock(&ahead->lock);
	ahead->noted.count = 0;
}

void rcore_read_ahead_stop(struct rcore_read_ahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->is_over = true;
	pthread_cond_signal(&ahead->change);
	pthread_mutex_unlock(&ahead->lock);
	pthread_join(ahead->thread, NULL);
	free_ahead(ahead);
}
