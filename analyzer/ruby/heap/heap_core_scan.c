/* SPDX-License-Identifier: MIT */
#include "ruby/heap/heap_core_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "ruby/heap/heap_private.h"
#include "target/core/core_scan.h"

enum {
	PAGES = 1 << 20, /* a walk has no such limit */
	HEAD = 256,      /* bytes of a heap_page that contain its numbers */
};

struct scan {
	struct rcore_ruby *ruby;
	rcore_heap_core_visit *visit;
	void *context;
	size_t listed; /* in the list of pages */
	size_t count;  /* of these, not empty */
	struct rcore_heap_page *pages;
	struct rcore_live_range *ranges;
	size_t head;
};

/* Returns how many bytes contain all fields to read; 0: too many. */
static size_t head_size(const struct rcore_layout *layout)
{
	const struct rcore_field *const fields[] = {
		&layout->heap_page.start, &layout->heap_page.total_slots,
		&layout->heap_page.slot_size, &layout->heap_page.before_sweep};
	size_t end = rcore_fields_end(fields, RCORE_COUNT(fields));
	return end <= HEAD ? end : 0;
}

static bool scan_ranges(struct scan *scan, rcore_live_scan_visit *visit)
{
	return rcore_core_scan(scan->ruby->core, scan->ranges, scan->count, visit, scan);
}

static bool visit_head(void *context, int thread, size_t index, const uint8_t *bytes)
{
	struct scan *scan = context;
	const struct rcore_layout *layout = scan->ruby->layout;
	struct rcore_heap_page *page = &scan->pages[index];
	uint64_t slots, slot_size = layout->traits.default_slot_size, before_sweep = 0;
	(void)thread;
	if (!rcore_field_of(bytes, scan->head, &layout->heap_page.start, &page->start) ||
	    !rcore_field_of(bytes, scan->head, &layout->heap_page.total_slots, &slots) ||
	    (rcore_has(&layout->heap_page.slot_size) &&
	     !rcore_field_of(bytes, scan->head, &layout->heap_page.slot_size, &slot_size)))
		return false;
	rcore_field_of(bytes, scan->head, &layout->heap_page.before_sweep, &before_sweep);
	page->slots = slots;
	page->slot_size = slot_size;
	page->before_sweep = before_sweep;
	return true;
}

static bool visit_body(void *context, int thread, size_t index, const uint8_t *bytes)
{
	struct scan *scan = context;
	const struct rcore_heap_page *page = &scan->pages[index];
	uint64_t back;
	memcpy(&back, bytes, sizeof(back));
	return back == page->heap_page &&
	       scan->visit(scan->context, thread, page,
			   bytes + (page->start - rcore_heap_page_body(scan->ruby, page)));
}

/*
 * From 3.4 on, pages that have lost their last object stay in the list: see
 * is_empty() of heap.c.
 */
static void drop_empty(struct scan *scan)
{
	scan->count = 0;
	for (size_t i = 0; i < scan->listed; i++) {
		const struct rcore_heap_page *page = &scan->pages[i];
		if (page->start || page->slots || page->slot_size)
			scan->pages[scan->count++] = *page;
	}
}

static bool read_heads(struct scan *scan)
{
	for (size_t i = 0; i < scan->count; i++) {
		if (!rcore_is_object(scan->ruby, scan->pages[i].heap_page))
			return false;
		scan->ranges[i] = (struct rcore_live_range){.start = scan->pages[i].heap_page,
							    .size = scan->head};
	}
	if (!scan->head || !scan_ranges(scan, visit_head))
		return false;
	if (scan->ruby->layout->traits.heap_pages_darray)
		drop_empty(scan);
	for (size_t i = 0; i < scan->count; i++)
		if (!scan->pages[i].slots ||
		    !rcore_heap_page_fits(scan->ruby, &scan->pages[i]) ||
		    (i && scan->pages[i].start <= scan->pages[i - 1].start))
			return false;
	return scan->count > 0;
}

static bool read_bodies(struct scan *scan)
{
	for (size_t i = 0; i < scan->count; i++) {
		const struct rcore_heap_page *page = &scan->pages[i];
		uint64_t start = rcore_heap_page_body(scan->ruby, page);
		scan->ranges[i] = (struct rcore_live_range){
			.start = start,
			.size = page->start - start + page->slots * page->slot_size,
		};
	}
	return scan_ranges(scan, visit_body);
}

static bool read_list(struct scan *scan, uint64_t list)
{
	uint64_t *addresses = rcore_calloc(scan->listed, sizeof(*addresses));
	bool is_read = addresses && !rcore_read(scan->ruby->memory, list, addresses,
						scan->listed * sizeof(*addresses));
	for (size_t i = 0; i < scan->listed && is_read; i++)
		scan->pages[i].heap_page = addresses[i];
	free(addresses);
	return is_read;
}

static bool scan_all(struct scan *scan, uint64_t list)
{
	scan->pages = rcore_calloc(scan->listed, sizeof(*scan->pages));
	scan->ranges = rcore_calloc(scan->listed, sizeof(*scan->ranges));
	return scan->pages && scan->ranges && read_list(scan, list) && read_heads(scan) &&
	       rcore_heap_list_ends(scan->ruby, list, scan->listed,
				    &scan->pages[scan->count - 1]) &&
	       read_bodies(scan);
}

bool rcore_heap_core_scan(struct rcore_ruby *ruby, uint64_t objspace,
			  rcore_heap_core_visit *visit, void *context)
{
	struct scan scan = {
		.ruby = ruby,
		.visit = visit,
		.context = context,
		.head = head_size(ruby->layout),
	};
	uint64_t list, count;
	if (!ruby->core || ruby->recorder || ruby->unmoved)
		return false;
	rcore_auto_error err = rcore_heap_page_list(ruby, objspace, &list, &count);
	if (err || !count || count > PAGES)
		return false;
	scan.listed = count;
	scan.count = count;
	bool is_complete = scan_all(&scan, list);
	free(scan.pages);
	free(scan.ranges);
	return is_complete;
}
