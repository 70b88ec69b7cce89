/* SPDX-License-Identifier: MIT */
#include "target/live/pages/live_pages_private.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
	PAGE = RCORE_LIVE_PAGE,
	/* The work of looking whether a page is the same, in bytes. */
	LOOK = 64,
};

void rcore_live_pages_compare(struct rcore_live_pages *pages)
{
	for (size_t i = 0; i < pages->sorted_count; i++) {
		struct rcore_live_page *page = &pages->items[i];
		page->has_digest = page->is_same = page->state == RCORE_LIVE_PAGE_READ;
		if (!page->has_digest)
			continue;
		const struct rcore_live_region *region =
			rcore_live_region_at(pages->below->maps, page->address);
		page->is_constant = region && region->is_constant;
		page->digest = rcore_live_page_digest(page->bytes);
	}
	rcore_live_pages_add_rooms(pages);
}

void rcore_live_pages_note_awake(struct rcore_live_pages *pages)
{
	pages->awake.count = pages->awake_sorted = pages->noted_count = 0;
	free(pages->changes);
	pages->changes = NULL;
	for (size_t i = 0; i < pages->count; i++) {
		const struct rcore_live_page *page = &pages->items[i];
		if (page->rests || page->is_constant)
			continue;
		uint32_t *noted = rcore_push(&pages->awake);
		if (!noted)
			return;
		*noted = (uint32_t)i;
		pages->awake_sorted += i < pages->sorted_count;
	}
	pages->noted_count = pages->count;
	/* Both are written once, like the rooms. */
	const size_t wanted = pages->wanted.count;
	for (size_t i = 0; i < pages->awake.count; i++)
		rcore_live_pages_note_wanted(pages, pages->awake.items[i]);
	pages->wanted.count = wanted;
	pages->changes = malloc((pages->awake_sorted + 1) * sizeof(*pages->changes));
	rcore_live_pages_count_changes(pages);
}

bool rcore_live_pages_count_changes(struct rcore_live_pages *pages)
{
	uint32_t count = 0;
	if (!pages->changes)
		return false;
	for (size_t i = 0; i < pages->awake_sorted; i++) {
		pages->changes[i] = count;
		count += !pages->items[pages->awake.items[i]].is_same;
	}
	pages->changes[pages->awake_sorted] = count;
	return true;
}

struct rcore_live_span rcore_live_pages_span(const struct rcore_live_pages *pages,
					     uint64_t start, uint64_t end)
{
	const uint32_t *awake = pages->awake.items;
	size_t first = RCORE_PARTITION_POINT(pages->awake_sorted, middle,
					     pages->sorted[awake[middle]] + PAGE <= start);
	size_t last = first;
	while (last < pages->awake_sorted && pages->sorted[awake[last]] < end)
		last++;
	return (struct rcore_live_span){(uint32_t)first, (uint32_t)last};
}

bool rcore_live_pages_is_span_same(const struct rcore_live_pages *pages,
				   struct rcore_live_span span)
{
	return pages->changes[span.first] == pages->changes[span.end];
}

static void want_again(struct rcore_live_pages *pages, size_t item)
{
	struct rcore_live_page *page = &pages->items[item];
	if (page->rests || page->is_constant)
		return;
	page->state = RCORE_LIVE_PAGE_WANTED;
	page->is_same = false;
	rcore_live_pages_note_wanted(pages, item);
}

void rcore_live_pages_again(struct rcore_live_pages *pages)
{
	if (pages->noted_count)
		for (size_t i = 0; i < pages->awake.count; i++)
			want_again(pages, pages->awake.items[i]);
	for (size_t i = pages->noted_count; i < pages->count; i++)
		want_again(pages, i);
}

static bool spend(struct rcore_live_pages *pages, uint64_t bytes)
{
	bool has_left = bytes <= pages->work_left;
	pages->work_left = has_left ? pages->work_left - bytes : 0;
	return has_left;
}

/* A page that lies only partly in [start, end) has bytes of something else. */
size_t rcore_live_pages_rest(struct rcore_live_pages *pages, uint64_t start, uint64_t end)
{
	size_t count = 0;
	if (start > UINT64_MAX - PAGE || end < start || end - start > RCORE_LIVE_STACK_LIMIT)
		return 0;
	for (size_t i = rcore_live_pages_first_after(pages, start + PAGE - 1);
	     i < pages->sorted_count && pages->items[i].address + PAGE <= end; i++) {
		struct rcore_live_page *page = &pages->items[i];
		if (!spend(pages, PAGE))
			break;
		if (page->state != RCORE_LIVE_PAGE_READ || page->rests)
			continue;
		page->rests = true;
		count++;
	}
	return count;
}

size_t rcore_live_pages_next_resting(struct rcore_live_pages *pages, uint64_t *from,
				     uint64_t end, struct rcore_live_page **ret)
{
	size_t count = 0;
	for (size_t i = rcore_live_pages_first_after(pages, *from);
	     i < pages->sorted_count && pages->sorted[i] < end; i++) {
		struct rcore_live_page *page = &pages->items[i];
		if (!spend(pages, PAGE))
			return 0;
		if (count && (!page->rests || page->address != *from))
			break;
		if (!page->rests)
			continue;
		if (!count++)
			*ret = page;
		*from = page->address + PAGE;
	}
	return count;
}

static size_t wake(struct rcore_live_pages *pages, size_t item)
{
	struct rcore_live_page *page = &pages->items[item];
	if (!page->rests)
		return 0;
	page->rests = page->is_same = false;
	page->state = RCORE_LIVE_PAGE_WANTED;
	rcore_live_pages_note_wanted(pages, item);
	return 1;
}

static size_t wake_all(struct rcore_live_pages *pages)
{
	size_t count = 0;
	for (size_t i = 0; i < pages->count; i++)
		count += wake(pages, i);
	return count;
}

size_t rcore_live_pages_wake(struct rcore_live_pages *pages, uint64_t start, uint64_t end)
{
	size_t count = 0;
	for (size_t i = rcore_live_pages_first_after(pages, start);
	     i < pages->sorted_count && pages->items[i].address < end; i++) {
		count += wake(pages, i);
		if (!spend(pages, PAGE))
			return count + wake_all(pages);
	}
	return count;
}

bool rcore_live_pages_are_same(struct rcore_live_pages *pages, uint64_t start, uint64_t end)
{
	for (size_t i = rcore_live_pages_first_after(pages, start);
	     i < pages->sorted_count && pages->sorted[i] < end; i++)
		if (!pages->items[i].is_same || !spend(pages, LOOK))
			return false;
	return true;
}

uint64_t rcore_live_pages_digest(struct rcore_live_pages *pages, uint64_t start, uint64_t end)
{
	uint64_t digest = 0;
	for (size_t i = rcore_live_pages_first_after(pages, start);
	     i < pages->sorted_count && pages->items[i].address < end; i++) {
		const struct rcore_live_page *page = &pages->items[i];
		size_t from = page->address < start ? start - page->address : 0;
		size_t to = end - page->address < PAGE ? end - page->address : PAGE;
		if (!spend(pages, to - from))
			return ++pages->unlike;
		if (page->state == RCORE_LIVE_PAGE_READ)
			digest = XXH3_64bits_withSeed(page->bytes + from, to - from, digest);
	}
	return digest;
}
