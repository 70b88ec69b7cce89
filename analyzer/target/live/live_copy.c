/* SPDX-License-Identifier: MIT */
#include "target/live/live_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/order.h"
#include "target/live/pages/live_halves.h"

/*
 * Bytes of a range at most, bytes that are copied before rcore checks again
 * whether the process is still stopped, and entries of pagemap read at once.
 */
enum { SLICE = 4 << 20, BATCH = 32 << 20, ENTRIES = 8192 };

/*
 * A region that the program may not read is reserved for later, or has pages
 * that GC.compact protects while it moves objects (lock_page_body() of gc.c).
 * The latter are at most half of the heap, so a larger region than this counts
 * as reserved.
 */
static const uint64_t most_protected = UINT64_C(4) << 30;

/* Bits of an entry of pagemap (proc_pid_pagemap(5)). */
static const uint64_t is_present = UINT64_C(1) << 63, is_swapped = UINT64_C(1) << 62,
		      is_of_file = UINT64_C(1) << 61, frame_bits = (UINT64_C(1) << 55) - 1;

void rcore_live_copy_deinit(struct rcore_live_copy *copy)
{
	if (copy->bytes)
		munmap(copy->bytes, copy->room);
	free(copy->ranges.items);
	*copy = (struct rcore_live_copy){0};
}

static bool add(struct rcore_live_copy *copy, uint64_t start, size_t size)
{
	struct rcore_live_range *last =
		copy->ranges.count ? &copy->ranges.items[copy->ranges.count - 1] : NULL;
	copy->size += size;
	while (last && last->start + last->size == start && last->size < SLICE && size) {
		size_t part = SLICE - last->size < size ? SLICE - last->size : size;
		last->size += part;
		start += part;
		size -= part;
	}
	while (size) {
		size_t part = size < SLICE ? size : SLICE;
		struct rcore_live_range *range = rcore_push(&copy->ranges);
		if (!range)
			return false;
		*range = (struct rcore_live_range){.start = start, .size = part};
		start += part;
		size -= part;
	}
	return true;
}

/* Returns whether the region can have pages that must be copied. */
static bool is_searched(const struct rcore_live_region *region)
{
	return region->is_private &&
	       (region->readable || region->end - region->start <= most_protected);
}

/*
 * A page of a file that the program has not written is the same in the file,
 * which is read later. If the mapping is writable, it may be of a file that
 * others change, so its pages are always copied. A guard page counts as swapped
 * out: it cannot be read, and must not read as zeroes. The kernel's page of
 * zeroes reads like one that does not exist: as zeroes, or not at all if the
 * program cannot read the mapping.
 */
static bool is_wanted(const struct rcore_live_region *region, uint64_t zero_frame,
		      uint64_t entry)
{
	if (!region->is_anonymous && region->writable)
		return true;
	if (zero_frame && (entry & is_present) && (entry & frame_bits) == zero_frame)
		return !region->is_anonymous;
	return (entry & (is_present | is_swapped)) && !(entry & is_of_file);
}

/*
 * The kernel maps one page of zeroes wherever memory is read that nobody has
 * written. gcore reads everything that is mapped, so it leaves many such pages,
 * also in parts of malloc's arenas that are only reserved. A huge page of
 * zeroes counts as one of a file.
 */
uint64_t rcore_live_zero_frame(void)
{
	enum { PAGES = 2 };
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t entries[PAGES] = {0};
	void *pages = mmap(NULL, PAGES * size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return 0;
	madvise(pages, PAGES * size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		(void)((const volatile uint8_t *)pages)[i * size];
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	off_t at = (off_t)((uintptr_t)pages / size * sizeof(*entries));
	if (pagemap < 0 || pread(pagemap, entries, sizeof(entries), at) != sizeof(entries))
		memset(entries, 0, sizeof(entries));
	if (pagemap >= 0)
		close(pagemap);
	munmap(pages, PAGES * size);
	/*
	 * A kernel that has no such page gives each page a frame of its own,
	 * which another process may get next.
	 */
	const bool is_shared = ((entries[0] ^ entries[1]) & frame_bits) == 0 &&
			       entries[0] & entries[1] & is_present;
	return is_shared ? entries[0] & frame_bits : 0;
}

/* If pagemap cannot be read, all that the program may read is copied. */
static bool add_rest(struct rcore_live_copy *copy, const struct rcore_live_region *region,
		     uint64_t start)
{
	if (!region->readable || region->is_constant)
		return true;
	return add(copy, start, region->end - start);
}

static int add_region(struct rcore_live_copy *copy, int pagemap, uint64_t zero_frame,
		      const struct rcore_live_region *region)
{
	uint64_t entries[ENTRIES], page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (!is_searched(region))
		return 0;
	copy->looked_at += (region->end - region->start) / page;
	if (copy->looked_at > RCORE_LIVE_COPY_PAGES)
		return E2BIG;
	for (uint64_t at = region->start; at < region->end;) {
		uint64_t wanted = (region->end - at) / page;
		size_t count = wanted < ENTRIES ? (size_t)wanted : ENTRIES;
		ssize_t got = pread(pagemap, entries, count * sizeof(*entries),
				    (off_t)(at / page * sizeof(*entries)));
		if (got < (ssize_t)sizeof(*entries))
			return add_rest(copy, region, at) ? 0 : ENOMEM;
		count = (size_t)got / sizeof(*entries);
		for (size_t i = 0; i < count; i++, at += page)
			if (is_wanted(region, zero_frame, entries[i]) && !add(copy, at, page))
				return ENOMEM;
	}
	return 0;
}

int rcore_live_copy_find(struct rcore_live_copy *copy, int folder,
			 const struct rcore_live_maps *maps)
{
	int errnum = 0;
	int pagemap = openat(folder, "pagemap", O_RDONLY | O_CLOEXEC);
	const uint64_t zero_frame = rcore_live_zero_frame();
	copy->ranges.count = 0;
	copy->size = 0;
	copy->looked_at = 0;
	copy->maps = maps;
	for (size_t i = 0; i < maps->region_count && !errnum; i++)
		errnum = add_region(copy, pagemap, zero_frame, &maps->regions[i]);
	if (pagemap >= 0)
		close(pagemap);
	return errnum;
}

bool rcore_live_copy_prepare(struct rcore_live_copy *copy, size_t room)
{
	if (copy->bytes)
		munmap(copy->bytes, copy->room);
	copy->bytes = NULL;
	void *bytes =
		mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return false;
	/*
	 * The kernel allocates memory when it is written for the first time.
	 * This takes long, so it must not happen while the process is stopped.
	 */
	madvise(bytes, room, MADV_HUGEPAGE);
	for (size_t at = 0; at < room; at += RCORE_LIVE_PAGE)
		((volatile uint8_t *)bytes)[at] = 0;
	copy->bytes = bytes;
	copy->room = room;
	return true;
}

static bool is_readable(const struct rcore_live_memory *from)
{
	return !from->is_gone && (!from->stop || rcore_stop_is_held(from->stop));
}

static void read_ranges(void *context, struct rcore_live_memory *from, size_t first, size_t end)
{
	struct rcore_live_range *ranges = context;
	rcore_live_read_batch(from, ranges + first, end - first);
}

size_t rcore_live_copy_fill(struct rcore_live_copy *copy, struct rcore_live_memory *from,
			    size_t most)
{
	size_t done = 0;
	if (most > copy->room)
		most = copy->room;
	for (size_t i = 0; i < copy->ranges.count;) {
		size_t first = i, size = 0;
		for (; i < copy->ranges.count && size < BATCH; i++) {
			struct rcore_live_range *range = &copy->ranges.items[i];
			if (range->size > most - done - size)
				break;
			range->bytes = copy->bytes + done + size;
			size += range->size;
		}
		if (i == first)
			break;
		struct rcore_live_range *ranges = &copy->ranges.items[first];
		rcore_live_in_halves(from, ranges, i - first, read_ranges, ranges);
		if (!is_readable(from))
			break;
		done += size;
	}
	return done;
}

static int by_start(const void *left, const void *right)
{
	const struct rcore_live_range *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

bool rcore_live_copy_finish(struct rcore_live_copy *copy, struct rcore_live_memory *from)
{
	for (size_t i = 0; i < copy->ranges.count && is_readable(from); i++) {
		struct rcore_live_range *range = &copy->ranges.items[i];
		size_t skipped = (range->read / RCORE_LIVE_PAGE + 1) * RCORE_LIVE_PAGE;
		if (range->read == range->size)
			continue;
		struct rcore_live_range rest = {range->start + skipped, 0,
						range->bytes + skipped, 0};
		rest.size = range->size > skipped ? range->size - skipped : 0;
		/* The unreadable page stays in the range, after `read`. */
		range->size -= rest.size;
		if (!rest.size)
			continue;
		rcore_live_read_batch(from, &rest, 1);
		struct rcore_live_range *added = rcore_push(&copy->ranges);
		if (!added)
			return false;
		*added = rest;
	}
	if (copy->ranges.count)
		qsort(copy->ranges.items, copy->ranges.count, sizeof(*copy->ranges.items),
		      by_start);
	return true;
}

/* Returns the index of the first range that ends after `address`. */
static size_t first_after(const struct rcore_live_copy *copy, uint64_t address)
{
	const struct rcore_live_range *items = copy->ranges.items;
	return RCORE_PARTITION_POINT(copy->ranges.count, middle,
				     items[middle].start + items[middle].size <= address);
}

/* Returns the range that contains `address`, or NULL. */
static const struct rcore_live_range *range_at(const struct rcore_live_copy *copy,
					       uint64_t address)
{
	const struct rcore_live_range *items = copy->ranges.items;
	size_t low = first_after(copy, address);
	return low < copy->ranges.count && items[low].start <= address ? &items[low] : NULL;
}

/* Whether pages of the region that are in no range read as zeroes. */
static bool has_zeroes(const struct rcore_live_region *region)
{
	return region->is_anonymous && region->readable;
}

/*
 * Finds the bytes at `address`: *ret_bytes is NULL for zeroes. Returns how many
 * there are, at most `size`; 0 if the copy lacks them.
 */
static size_t part_at(const struct rcore_live_copy *copy, uint64_t address, size_t size,
		      const uint8_t **ret_bytes)
{
	const struct rcore_live_range *range = range_at(copy, address);
	*ret_bytes = NULL;
	if (range) {
		uint64_t offset = address - range->start;
		if (offset >= range->read)
			return 0;
		*ret_bytes = range->bytes + offset;
		return range->read - offset < size ? (size_t)(range->read - offset) : size;
	}
	const struct rcore_live_region *region = rcore_live_region_at(copy->maps, address);
	if (!region || !has_zeroes(region))
		return 0;
	uint64_t left = RCORE_LIVE_PAGE - address % RCORE_LIVE_PAGE;
	return left < size ? (size_t)left : size;
}

bool rcore_live_copy_read(const struct rcore_live_copy *copy, uint64_t address, void *buffer,
			  size_t size)
{
	for (uint8_t *out = buffer; size;) {
		const uint8_t *bytes;
		size_t part = part_at(copy, address, size, &bytes);
		if (!part)
			return false;
		if (bytes)
			memcpy(out, bytes, part);
		else
			memset(out, 0, part);
		out += part;
		address += part;
		size -= part;
	}
	return true;
}

/* Returns the end of the bytes that were read at `address` of a range. */
static uint64_t end_of_bytes(const struct rcore_live_copy *copy, size_t index)
{
	const struct rcore_live_range *range = &copy->ranges.items[index];
	uint64_t end = range->start + range->read;
	for (; ++index < copy->ranges.count && end == range->start + range->size; range++) {
		if (range[1].start != end || !range[1].read)
			break;
		end += range[1].read;
	}
	return end;
}

/* Finds zeroes in [address, limit). */
static bool find_zeroes(const struct rcore_live_copy *copy, uint64_t address, uint64_t limit,
			struct rcore_live_part *ret)
{
	const struct rcore_live_region *regions = copy->maps->regions;
	size_t i = RCORE_PARTITION_POINT(copy->maps->region_count, middle,
					 regions[middle].end <= address);
	for (; i < copy->maps->region_count && regions[i].start < limit; i++) {
		if (!has_zeroes(&regions[i]))
			continue;
		ret->start = regions[i].start > address ? regions[i].start : address;
		ret->end = regions[i].end < limit ? regions[i].end : limit;
		ret->is_zero = true;
		return true;
	}
	return false;
}

bool rcore_live_copy_part(const struct rcore_live_copy *copy, uint64_t address,
			  struct rcore_live_part *ret)
{
	for (size_t i = first_after(copy, address);; i++) {
		const struct rcore_live_range *range =
			i < copy->ranges.count ? &copy->ranges.items[i] : NULL;
		const uint64_t start = range ? range->start : UINT64_MAX;
		if (address < start && find_zeroes(copy, address, start, ret))
			return true;
		if (!range)
			return false;
		address = address > start ? address : start;
		if (address - start < range->read) {
			*ret = (struct rcore_live_part){address, end_of_bytes(copy, i), false};
			return true;
		}
		/* The rest of the range cannot be read. */
		address = start + range->size;
	}
}
