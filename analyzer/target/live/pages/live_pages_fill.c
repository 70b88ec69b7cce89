/* SPDX-License-Identifier: MIT */
#include "target/live/pages/live_pages_private.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/page_buffer.h"
#include "target/live/pages/live_halves.h"

enum { PAGE = RCORE_LIVE_PAGE };

static bool follows(const struct rcore_live_range *range, const struct rcore_live_page *page)
{
	return range->start + range->size == page->address &&
	       range->bytes + range->size == page->bytes;
}

enum {
	RANGE_BYTES = 128 << 10, /* of adjacent pages */
	/*
	 * Of ranges, all of which are late if any is, and their bytes. What a
	 * system call has read should still be in the processor's cache when
	 * mark() looks at it.
	 */
	SLICE = 512,
	SLICE_BYTES = 256 << 10,
	ROOM = SLICE_BYTES + RANGE_BYTES,
};

_Static_assert((int)ROOM >= (int)RCORE_LIVE_PAGES_ROOM, "rooms are too small");

void rcore_live_pages_add_rooms(struct rcore_live_pages *pages)
{
	for (int i = 0; i < RCORE_LIVE_HALVES; i++) {
		if (!pages->rooms[i])
			pages->rooms[i] = rcore_page_buffer(ROOM);
		if (pages->rooms[i])
			memset(pages->rooms[i], 0, ROOM);
	}
}

void rcore_live_pages_drop_rooms(struct rcore_live_pages *pages)
{
	for (int i = 0; i < RCORE_LIVE_HALVES; i++) {
		free(pages->rooms[i]);
		pages->rooms[i] = NULL;
	}
}

/*
 * Notes that a page was read into `bytes`. If they are what the page has, it is
 * not written: its own memory is rarely in the processor's cache.
 */
static void take(struct rcore_live_page *page, const uint8_t *bytes, bool late)
{
	page->is_same = page->has_digest && rcore_live_page_digest(bytes) == page->digest;
	page->has_digest = page->is_same;
	if (!page->is_same && bytes != page->bytes)
		memcpy(page->bytes, bytes, PAGE);
	page->state = RCORE_LIVE_PAGE_READ;
	page->is_late = late;
}

/*
 * Marks the pages of each range, which begins with that page: read, or, where
 * it ended early, unreadable. Returns whether any ended early; the pages after
 * the unreadable one must still be tried.
 */
static bool mark(struct rcore_live_pages *pages, const struct rcore_live_range *ranges,
		 const size_t *firsts, size_t count, bool late)
{
	bool again = false;
	for (size_t i = 0; i < count; i++) {
		struct rcore_live_page *page = &pages->items[firsts[i]];
		size_t done = 0;
		for (; done + PAGE <= ranges[i].read; done += PAGE)
			take(page++, ranges[i].bytes + done, late);
		if (done < ranges[i].size) {
			page->state = RCORE_LIVE_PAGE_FAILED;
			page->is_late = page->is_same = page->has_digest = false;
			again = true;
		}
	}
	return again;
}

/* What fill() has to read. */
struct filling {
	struct rcore_live_pages *pages;
	struct {
		struct rcore_live_range *items;
		size_t count, capacity;
	} ranges;
	struct {
		size_t *items;
		size_t count, capacity;
	} firsts; /* the page with which each range begins */
	atomic_bool again;
};

/* Returns how many ranges to read at once. Lets them point into `room`. */
static size_t next_slice(struct rcore_live_range *ranges, size_t count, uint8_t *room)
{
	size_t bytes = 0, i = 0;
	for (; i < count && i < SLICE && bytes < SLICE_BYTES; i++) {
		if (room)
			ranges[i].bytes = room + bytes;
		bytes += ranges[i].size;
	}
	return i;
}

static void read_ranges(void *context, struct rcore_live_memory *memory, size_t from, size_t to)
{
	struct filling *filling = context;
	struct rcore_live_range *ranges = filling->ranges.items;
	uint8_t *room = filling->pages->rooms[from > 0];
	for (size_t i = from, count; i < to; i += count) {
		size_t late = memory->late_count;
		count = next_slice(ranges + i, to - i, room);
		rcore_live_read_batch(memory, ranges + i, count);
		if (mark(filling->pages, ranges + i, filling->firsts.items + i, count,
			 memory->late_count > late))
			filling->again = true;
	}
}

/* Adds a page to the ranges if it is wanted. False: memory is short. */
static bool add_page(struct filling *filling, size_t item)
{
	const struct rcore_live_page *page = &filling->pages->items[item];
	if (page->state != RCORE_LIVE_PAGE_WANTED)
		return true;
	size_t last = filling->ranges.count - 1;
	struct rcore_live_range *range =
		filling->ranges.count ? &filling->ranges.items[last] : NULL;
	/* The list may have a page twice. */
	if (range && item < filling->firsts.items[last] + range->size / PAGE)
		return true;
	bool is_next = range && filling->firsts.items[last] + range->size / PAGE == item &&
		       follows(range, page) && range->size < RANGE_BYTES;
	if (!is_next) {
		size_t *first = rcore_push(&filling->firsts);
		range = first ? rcore_push(&filling->ranges) : NULL;
		if (!range)
			return false;
		*first = item;
		range->start = page->address;
		range->bytes = page->bytes;
	}
	range->size += PAGE;
	return true;
}

static int by_value(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

/* Adjacent pages are adjacent in the list only if it is sorted. */
static void sort_wanted(struct rcore_live_page_list *wanted)
{
	for (size_t i = 1; i < wanted->count; i++)
		if (wanted->items[i] < wanted->items[i - 1]) {
			qsort(wanted->items, wanted->count, sizeof(*wanted->items), by_value);
			return;
		}
}

/* *ret_whole is false if memory was short, so that pages are left. */
static bool fill_once(struct rcore_live_pages *pages, bool *ret_whole)
{
	struct filling filling = {.pages = pages};
	bool is_whole = true;
	if (pages->are_all_wanted)
		for (size_t i = 0; i < pages->count && is_whole; i++)
			is_whole = add_page(&filling, i);
	else
		for (size_t i = 0; i < pages->wanted.count && is_whole; i++)
			is_whole = add_page(&filling, pages->wanted.items[i]);
	*ret_whole = is_whole;
	rcore_live_in_halves(pages->below, filling.ranges.items, filling.ranges.count,
			     read_ranges, &filling);
	free(filling.ranges.items);
	free(filling.firsts.items);
	return filling.again;
}

void rcore_live_pages_fill(struct rcore_live_pages *pages)
{
	sort_wanted(&pages->wanted);
	bool is_whole;
	while (fill_once(pages, &is_whole) && !pages->below->is_gone)
		;
	pages->wanted.count = 0;
	pages->are_all_wanted = !is_whole;
}
