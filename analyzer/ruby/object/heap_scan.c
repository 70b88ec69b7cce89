/* SPDX-License-Identifier: MIT */
#include "ruby/object/heap_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "ruby/object/heap_private.h"

enum {
	/* 4 GiB of pages of 64 KiB; a walk has no such limit. */
	PAGES = 64 << 10,
	HEAD = 256, /* bytes of a heap_page that contain its numbers */
};

struct scan {
	struct rcore_ruby *ruby;
	rcore_heap_scan_visit *visit;
	void *context;
	size_t count;
	uint64_t *addresses; /* of the heap_page structs */
	struct rcore_heap_page *pages;
	struct rcore_live_range *ranges;
	size_t head;
};

static size_t end_of(const struct rcore_field *field)
{
	return rcore_has_place(field) ? (size_t)field->offset + rcore_field_width(field) : 0;
}

/* Returns how many bytes contain all fields to read; 0: too many. */
static size_t head_size(const struct rcore_layout *layout)
{
	const size_t ends[] = {end_of(&layout->heap_page.start),
			       end_of(&layout->heap_page.total_slots),
			       end_of(&layout->heap_page.slot_size)};
	size_t most = 0;
	for (size_t i = 0; i < RCORE_COUNT(ends); i++)
		most = ends[i] > most ? ends[i] : most;
	return most <= HEAD ? most : 0;
}

static bool visit_head(void *context, int thread, size_t index, const uint8_t *bytes)
{
	struct scan *scan = context;
	const struct rcore_layout *layout = scan->ruby->layout;
	struct rcore_heap_page *page = &scan->pages[index];
	uint64_t slots, slot_size = layout->traits.default_slot_size;
	(void)thread;
	if (!rcore_field_of(bytes, scan->head, &layout->heap_page.start, &page->start) ||
	    !rcore_field_of(bytes, scan->head, &layout->heap_page.total_slots, &slots) ||
	    (rcore_has(&layout->heap_page.slot_size) &&
	     !rcore_field_of(bytes, scan->head, &layout->heap_page.slot_size, &slot_size)))
		return false;
	page->slots = slots;
	page->slot_size = slot_size;
	return true;
}

static uint64_t body_of(const struct scan *scan, const struct rcore_heap_page *page)
{
	return page->start - page->start % scan->ruby->layout->traits.heap_page_align;
}

static bool visit_body(void *context, int thread, size_t index, const uint8_t *bytes)
{
	struct scan *scan = context;
	const struct rcore_heap_page *page = &scan->pages[index];
	uint64_t back;
	memcpy(&back, bytes, sizeof(back));
	return back == scan->addresses[index] &&
	       scan->visit(scan->context, thread, page,
			   bytes + (page->start - body_of(scan, page)));
}

static bool read_heads(struct scan *scan)
{
	for (size_t i = 0; i < scan->count; i++) {
		if (!rcore_is_object(scan->ruby, scan->addresses[i]))
			return false;
		scan->ranges[i] = (struct rcore_live_range){.start = scan->addresses[i],
							    .size = scan->head};
	}
	if (!scan->head ||
	    !rcore_live_scan(scan->ruby->live, scan->ranges, scan->count, visit_head, scan))
		return false;
	for (size_t i = 0; i < scan->count; i++)
		if (!scan->pages[i].slots ||
		    !rcore_heap_page_fits(scan->ruby, &scan->pages[i]) ||
		    (i && scan->pages[i].start <= scan->pages[i - 1].start))
			return false;
	return true;
}

static bool read_bodies(struct scan *scan)
{
	for (size_t i = 0; i < scan->count; i++) {
		const struct rcore_heap_page *page = &scan->pages[i];
		uint64_t start = body_of(scan, page);
		scan->ranges[i] = (struct rcore_live_range){
			.start = start,
			.size = page->start - start + page->slots * page->slot_size,
		};
	}
	return rcore_live_scan(scan->ruby->live, scan->ranges, scan->count, visit_body, scan);
}

/* The counter may not include the newest page yet. */
static bool is_last(const struct scan *scan, uint64_t list)
{
	struct rcore_heap_page page;
	uint64_t next;
	return rcore_read_u64(scan->ruby->memory, list + scan->count * sizeof(next), &next) ||
	       !rcore_heap_page_read(scan->ruby, next, &page) ||
	       page.start <= scan->pages[scan->count - 1].start;
}

static bool scan_all(struct scan *scan, uint64_t list)
{
	scan->addresses = rcore_calloc(scan->count, sizeof(*scan->addresses));
	scan->pages = rcore_calloc(scan->count, sizeof(*scan->pages));
	scan->ranges = rcore_calloc(scan->count, sizeof(*scan->ranges));
	return scan->addresses && scan->pages && scan->ranges &&
	       !rcore_read(scan->ruby->memory, list, scan->addresses,
			   scan->count * sizeof(*scan->addresses)) &&
	       read_heads(scan) && is_last(scan, list) && read_bodies(scan);
}

bool rcore_heap_scan(struct rcore_ruby *ruby, uint64_t objspace, rcore_heap_scan_visit *visit,
		     void *context)
{
	const struct rcore_layout *layout = ruby->layout;
	struct scan scan = {
		.ruby = ruby,
		.visit = visit,
		.context = context,
		.head = head_size(layout),
	};
	uint64_t list, count;
	if (!ruby->live || ruby->recorder || layout->traits.heap_pages_darray)
		return false;
	rcore_auto_error err = rcore_heap_page_list(ruby, objspace, &list, &count);
	if (err || !count || count > PAGES)
		return false;
	scan.count = count;
	bool is_complete = scan_all(&scan, list);
	free(scan.addresses);
	free(scan.pages);
	free(scan.ranges);
	return is_complete;
}
