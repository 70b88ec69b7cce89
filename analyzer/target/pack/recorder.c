/* SPDX-License-Identifier: MIT */
#include "target/pack/recorder.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(page) ((page)->is_lost = true)
#include <uthash.h>

#include "base/grow.h"
#include "base/order.h"

struct page {
	/* Its start is the key. */
	struct rcore_recorded_page recorded;
	bool is_lost;
	UT_hash_handle hh;
};

enum { RECENT = 256 };

struct rcore_recorder {
	/* must come first: the callbacks cast it back */
	struct rcore_memory memory;
	struct rcore_memory *below;
	rcore_recorder_edge *edge; /* or NULL */
	const void *edge_context;
	struct page *pages;
	/* Pages by their number, modulo RECENT. Avoids most lookups. */
	struct page *recent[RECENT];
	const struct rcore_recorded_page **sorted;
	struct {
		struct rcore_recorded_range *items;
		size_t count, capacity;
	} ranges;
	size_t last_range; /* index of the last one that was found */
	bool is_short;
	int pauses;
};

static enum rcore_fault read_recorded(struct rcore_memory *memory, uint64_t address,
				      void *buffer, size_t size)
{
	struct rcore_recorder *recorder = (struct rcore_recorder *)memory;
	rcore_recorder_add(recorder, address, size);
	return rcore_read(recorder->below, address, buffer, size);
}

struct rcore_recorder *rcore_recorder_new(struct rcore_memory *below)
{
	struct rcore_recorder *recorder = calloc(1, sizeof(*recorder));
	if (!recorder)
		return NULL;
	recorder->memory.read = read_recorded;
	recorder->below = below;
	return recorder;
}

void rcore_recorder_free(struct rcore_recorder *recorder)
{
	struct page *page, *next;
	if (!recorder)
		return;
	HASH_ITER (hh, recorder->pages, page, next) {
		HASH_DEL(recorder->pages, page);
		free(page);
	}
	free(recorder->sorted);
	free(recorder->ranges.items);
	free(recorder);
}

void rcore_recorder_set_edge(struct rcore_recorder *recorder, rcore_recorder_edge *edge,
			     const void *context)
{
	recorder->edge = edge;
	recorder->edge_context = context;
}

struct rcore_memory *rcore_recorder_memory(struct rcore_recorder *recorder)
{
	return &recorder->memory;
}

static struct page *page_at(struct rcore_recorder *recorder, uint64_t start)
{
	struct page **recent = &recorder->recent[start / RCORE_RECORDER_PAGE % RECENT];
	struct page *page = *recent;
	if (page && page->recorded.start == start)
		return page;
	HASH_FIND(hh, recorder->pages, &start, sizeof(start), page);
	if (!page && (page = calloc(1, sizeof(*page)))) {
		page->recorded.recorder = recorder;
		page->recorded.start = start;
		HASH_ADD_KEYPTR(hh, recorder->pages, &page->recorded.start, sizeof(start),
				page);
		if (page->is_lost) {
			free(page);
			page = NULL;
		}
	}
	*recent = page;
	return page;
}

/* Returns the end of the range that contains `address`; 0 if there is none. */
static uint64_t range_end(struct rcore_recorder *recorder, uint64_t address)
{
	const struct rcore_recorded_range *items = recorder->ranges.items;
	size_t i = recorder->last_range, count = recorder->ranges.count;
	if (!count)
		return 0;
	if (address < items[i].start || address >= items[i].end)
		i = RCORE_PARTITION_POINT(count, middle, items[middle].end <= address);
	if (i == count || address < items[i].start)
		return 0;
	recorder->last_range = i;
	return items[i].end;
}

static void mark(uint64_t *bits, size_t start, size_t end)
{
	for (size_t at = start; at < end;) {
		size_t word = at / 64, bit = at % 64;
		size_t count = 64 - bit < end - at ? 64 - bit : end - at;
		uint64_t ones = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
		bits[word] |= ones << bit;
		at += count;
	}
}

void rcore_recorder_mark(struct rcore_recorder *recorder, enum rcore_recorded kind,
			 uint64_t start, uint64_t size)
{
	while (size && !recorder->is_short) {
		size_t in_page = start % RCORE_RECORDER_PAGE;
		uint64_t end = range_end(recorder, start);
		uint64_t part = end ? end - start : RCORE_RECORDER_PAGE - in_page;
		part = part < size ? part : size;
		struct page *page = end ? NULL : page_at(recorder, start - in_page);
		if (page)
			mark(page->recorded.bits[kind], in_page, in_page + part);
		else if (!end)
			recorder->is_short = true;
		if (__builtin_add_overflow(start, part, &start))
			return;
		size -= part;
	}
}

void rcore_recorder_add(struct rcore_recorder *recorder, uint64_t start, uint64_t size)
{
	if (!recorder->pauses)
		rcore_recorder_mark(recorder, RCORE_RECORDED_ASKED, start, size);
}

void rcore_recorder_add_range(struct rcore_recorder *recorder,
			      const struct rcore_recorded_range *range)
{
	struct rcore_recorded_range *last =
		recorder->ranges.count ? &recorder->ranges.items[recorder->ranges.count - 1]
				       : NULL;
	if (last && last->end == range->start && last->is_zero == range->is_zero) {
		last->end = range->end;
		return;
	}
	struct rcore_recorded_range *added = rcore_push(&recorder->ranges);
	if (added)
		*added = *range;
	else
		recorder->is_short = true;
}

const struct rcore_recorded_range *rcore_recorder_ranges(const struct rcore_recorder *recorder,
							 size_t *ret_count)
{
	*ret_count = recorder->ranges.count;
	return recorder->ranges.items;
}

void rcore_recorder_forget(struct rcore_recorder *recorder, uint64_t start, uint64_t end)
{
	for (struct page *page = recorder->pages; page; page = page->hh.next) {
		struct rcore_recorded_page *recorded = &page->recorded;
		if (recorded->start >= end ||
		    recorded->start + (RCORE_RECORDER_PAGE - 1) < start)
			continue;
		uint64_t *asked = recorded->bits[RCORE_RECORDED_ASKED];
		for (size_t i = 0; i < RCORE_RECORDER_PAGE; i++)
			if (recorded->start + i >= start && recorded->start + i < end)
				asked[i / 64] &= ~(UINT64_C(1) << i % 64);
	}
}

void rcore_recorder_pause(struct rcore_recorder *recorder, bool pause)
{
	recorder->pauses += pause ? 1 : -1;
}

bool rcore_recorder_is_short(const struct rcore_recorder *recorder)
{
	return recorder->is_short;
}

static int by_start(const void *left, const void *right)
{
	const struct rcore_recorded_page *a = *(const struct rcore_recorded_page *const *)left;
	const struct rcore_recorded_page *b = *(const struct rcore_recorded_page *const *)right;
	return a->start < b->start ? -1 : a->start > b->start;
}

const struct rcore_recorded_page *const *rcore_recorder_pages(struct rcore_recorder *recorder,
							      size_t *ret_count)
{
	size_t count = HASH_COUNT(recorder->pages), at = 0;
	free(recorder->sorted);
	recorder->sorted = rcore_calloc(count, sizeof(*recorder->sorted));
	*ret_count = 0;
	if (!recorder->sorted) {
		recorder->is_short = true;
		return NULL;
	}
	for (struct page *page = recorder->pages; page; page = page->hh.next)
		recorder->sorted[at++] = &page->recorded;
	qsort(recorder->sorted, count, sizeof(*recorder->sorted), by_start);
	*ret_count = count;
	return recorder->sorted;
}

void rcore_recorder_each(const struct rcore_recorder *recorder,
			 void (*visit)(void *context, const struct rcore_recorded_page *page),
			 void *context)
{
	for (const struct page *page = recorder->pages; page; page = page->hh.next)
		visit(context, &page->recorded);
}

/* Returns the offset of the first byte, from `at` on, whose bit is `wanted`. */
static size_t find_bit(const uint64_t *bits, size_t at, bool wanted)
{
	while (at < RCORE_RECORDER_PAGE) {
		uint64_t word = (wanted ? bits[at / 64] : ~bits[at / 64]) >> at % 64;
		if (word)
			return at + (size_t)__builtin_ctzll(word);
		at += 64 - at % 64;
	}
	return RCORE_RECORDER_PAGE;
}

bool rcore_recorded_run(const struct rcore_recorded_page *page, size_t *at, size_t *ret_start,
			size_t *ret_size)
{
	const uint64_t *asked = page->bits[RCORE_RECORDED_ASKED];
	size_t start = find_bit(asked, *at, true), end = find_bit(asked, start, false);
	*at = end;
	*ret_start = start;
	*ret_size = end - start;
	return end > start;
}

/*
 * Returns how many of `size` bytes there are up to the next edge: all of them
 * can be read, or none.
 */
static size_t part_at(const struct rcore_recorder *recorder, uint64_t address, size_t size)
{
	uint64_t edge =
		recorder->edge ? recorder->edge(recorder->edge_context, address) : address + 1;
	return edge > address && edge - address < size ? edge - address : size;
}

/*
 * Returns how many of the first `size` bytes can be read. If none can be, sets
 * *ret_gap to how many cannot.
 */
static size_t read_prefix(const struct rcore_recorder *recorder, struct rcore_memory *memory,
			  uint64_t address, uint8_t *bytes, size_t size, size_t *ret_gap)
{
	size_t count = 0;
	while (count < size) {
		size_t part = part_at(recorder, address + count, size - count);
		*ret_gap = part;
		if (rcore_read(memory, address + count, bytes + count, part))
			break;
		count += part;
	}
	return count;
}

bool rcore_recorded_read(const struct rcore_recorded_page *page, struct rcore_memory *memory,
			 size_t *at, size_t *ret_start, size_t *ret_size,
			 uint8_t bytes[RCORE_RECORDER_PAGE])
{
	while (rcore_recorded_run(page, at, ret_start, ret_size)) {
		uint64_t address = page->start + *ret_start;
		size_t gap = *ret_size;
		if (!rcore_read(memory, address, bytes, *ret_size))
			return true;
		*ret_size =
			read_prefix(page->recorder, memory, address, bytes, *ret_size, &gap);
		*at = *ret_start + (*ret_size ? *ret_size : gap);
		if (*ret_size)
			return true;
	}
	return false;
}
