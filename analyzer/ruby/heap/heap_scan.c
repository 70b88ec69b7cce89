/* SPDX-License-Identifier: MIT */
#include "ruby/heap/heap_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/order.h"
#include "ruby/heap/heap_private.h"

enum {
	/* 4 GiB of pages of 64 KiB; a walk has no such limit. */
	PAGES = 64 << 10,
	HEAD = 512, /* bytes of a heap_page that contain its numbers */
	BITS = 64,  /* of a bits_t */
	/* To read a byte is this much cheaper than to start a range. */
	GAP = 1 << 10,
};

/* What is read of a page: its body, or a part of the slots. */
struct part {
	size_t page;
	size_t offset; /* of the first slot in the bytes that are read */
	struct rcore_heap_page slots;
};

/* The address of a heap_page struct, and the number of its page. */
struct head {
	uint64_t address;
	size_t page;
};

struct scan {
	struct rcore_ruby *ruby;
	rcore_heap_scan_visit *visit;
	void *context;
	size_t count;
	uint64_t *addresses; /* of the heap_page structs */
	/*
	 * The pages, ordered by the address of their structs. CRuby allocates
	 * these one after the other, so in this order they are read as few
	 * large ranges.
	 */
	struct head *heads;
	struct rcore_heap_page *pages;
	/*
	 * The wb_unprotected_bits of all pages, bit_words each; NULL: not
	 * needed.
	 */
	uint64_t *bits;
	size_t bit_words;
	struct {
		struct part *items;
		size_t count, capacity;
	} parts;
	struct {
		struct rcore_live_range *items;
		size_t count, capacity;
	} ranges; /* what to read of the pages, then of the parts */
	size_t head;
};

/* Returns how many bytes contain all fields to read; 0: too many. */
static size_t head_size(const struct rcore_layout *layout)
{
	const struct rcore_field *const fields[] = {
		&layout->heap_page.start, &layout->heap_page.total_slots,
		&layout->heap_page.slot_size, &layout->heap_page.wb_unprotected_bits};
	size_t end = rcore_fields_end(fields, RCORE_COUNT(fields));
	return end <= HEAD ? end : 0;
}

static bool visit_head(void *context, int thread, size_t head, const uint8_t *bytes)
{
	struct scan *scan = context;
	const struct rcore_layout *layout = scan->ruby->layout;
	const size_t index = scan->heads[head].page;
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
	if (scan->bits)
		memcpy(scan->bits + index * scan->bit_words,
		       bytes + layout->heap_page.wb_unprotected_bits.offset,
		       scan->bit_words * sizeof(*scan->bits));
	return true;
}

static bool visit_part(void *context, int thread, size_t index, const uint8_t *bytes)
{
	struct scan *scan = context;
	const struct part *part = &scan->parts.items[index];
	uint64_t back;
	if (part->offset) {
		memcpy(&back, bytes, sizeof(back));
		if (back != scan->addresses[part->page])
			return false;
	}
	if (!part->slots.slots)
		return true;
	return scan->visit(scan->context, thread, &part->slots, bytes + part->offset);
}

static bool sort_heads(struct scan *scan)
{
	for (size_t i = 0; i < scan->count; i++) {
		if (!rcore_is_object(scan->ruby, scan->addresses[i]))
			return false;
		scan->heads[i] = (struct head){scan->addresses[i], i};
	}
	qsort(scan->heads, scan->count, sizeof(*scan->heads), rcore_ascending);
	return true;
}

static bool read_heads(struct scan *scan)
{
	if (!sort_heads(scan))
		return false;
	for (size_t i = 0; i < scan->count; i++) {
		struct rcore_live_range *range = rcore_push(&scan->ranges);
		if (!range)
			return false;
		*range = (struct rcore_live_range){.start = scan->heads[i].address,
						   .size = scan->head};
	}
	if (!scan->head || !rcore_live_scan(scan->ruby->live, scan->ruby->reads_now,
					    scan->ranges.items, scan->count, visit_head, scan))
		return false;
	for (size_t i = 0; i < scan->count; i++)
		if (!scan->pages[i].slots ||
		    !rcore_heap_page_fits(scan->ruby, &scan->pages[i]) ||
		    (i && scan->pages[i].start <= scan->pages[i - 1].start))
			return false;
	return true;
}

/* Adds slots [first, end) of a page, after `offset` other bytes. */
static bool add_part(struct scan *scan, size_t page, size_t first, size_t end, size_t offset)
{
	const struct rcore_heap_page *whole = &scan->pages[page];
	struct part *part = rcore_push(&scan->parts);
	struct rcore_live_range *range = rcore_push(&scan->ranges);
	if (!part || !range)
		return false;
	*part = (struct part){.page = page, .offset = offset};
	part->slots = *whole;
	part->slots.start += first * whole->slot_size;
	part->slots.slots = end - first;
	range->start = part->slots.start - offset;
	range->size = offset + (end - first) * whole->slot_size;
	return true;
}

static bool add_body(struct scan *scan, size_t page)
{
	const struct rcore_heap_page *whole = &scan->pages[page];
	return add_part(scan, page, 0, whole->slots,
			whole->start - rcore_heap_page_body(scan->ruby, whole));
}

/* Returns the index of the slot that has a bit; page->slots: none. */
static size_t slot_of(const struct scan *scan, const struct rcore_heap_page *page, uint64_t bit)
{
	const uint64_t unit = scan->ruby->layout->traits.default_slot_size;
	const uint64_t offset = page->start - rcore_heap_page_body(scan->ruby, page),
		       last = (bit + 1) * unit - 1;
	const uint64_t slot = last < offset ? page->slots : (last - offset) / page->slot_size;
	return slot < page->slots && (offset + slot * page->slot_size) / unit == bit
		       ? slot
		       : page->slots;
}

/* Adds the first word of a page's body, which shows that it is one. */
static bool add_back_pointer(struct scan *scan, size_t page)
{
	struct part *part = rcore_push(&scan->parts);
	struct rcore_live_range *range = rcore_push(&scan->ranges);
	if (!part || !range)
		return false;
	*part = (struct part){.page = page, .offset = sizeof(uint64_t)};
	*range = (struct rcore_live_range){
		.start = rcore_heap_page_body(scan->ruby, &scan->pages[page]),
		.size = sizeof(uint64_t)};
	return true;
}

/* Adds runs of slots that begin and end with an object without barriers. */
static bool add_unprotected(struct scan *scan, size_t page)
{
	const struct rcore_heap_page *whole = &scan->pages[page];
	const size_t gap = GAP / whole->slot_size;
	size_t first = 0, end = 0;
	bool has_parts = false;
	for (size_t i = 0; i < scan->bit_words; i++) {
		uint64_t word = scan->bits[page * scan->bit_words + i];
		for (; word; word &= word - 1) {
			size_t slot = slot_of(scan, whole,
					      i * BITS + (uint64_t)__builtin_ctzll(word));
			if (slot == whole->slots)
				continue;
			if (!has_parts && !add_back_pointer(scan, page))
				return false;
			has_parts = true;
			if (end && slot - end > gap) {
				if (!add_part(scan, page, first, end, 0))
					return false;
				end = 0;
			}
			first = end ? first : slot;
			end = slot + 1;
		}
	}
	return !end || add_part(scan, page, first, end, 0);
}

static bool read_parts(struct scan *scan, bool unprotected)
{
	scan->ranges.count = 0;
	for (size_t i = 0; i < scan->count; i++)
		if (!(unprotected ? add_unprotected(scan, i) : add_body(scan, i)))
			return false;
	return rcore_live_scan(scan->ruby->live, scan->ruby->reads_now, scan->ranges.items,
			       scan->ranges.count, visit_part, scan);
}

/* Returns false if memory is short, or this Ruby is not known to have bits. */
static bool add_bits(struct scan *scan)
{
	const struct rcore_field *bits = &scan->ruby->layout->heap_page.wb_unprotected_bits;
	if (!rcore_has_place(bits) || bits->size % sizeof(*scan->bits))
		return false;
	scan->bit_words = bits->size / sizeof(*scan->bits);
	scan->bits = rcore_calloc(scan->count * scan->bit_words, sizeof(*scan->bits));
	return scan->bits != NULL;
}

static bool scan_all(struct scan *scan, uint64_t list, bool unprotected)
{
	scan->addresses = rcore_calloc(scan->count, sizeof(*scan->addresses));
	scan->heads = rcore_calloc(scan->count, sizeof(*scan->heads));
	scan->pages = rcore_calloc(scan->count, sizeof(*scan->pages));
	return scan->addresses && scan->heads && scan->pages &&
	       (!unprotected || add_bits(scan)) &&
	       !rcore_read(scan->ruby->memory, list, scan->addresses,
			   scan->count * sizeof(*scan->addresses)) &&
	       read_heads(scan) &&
	       rcore_heap_list_ends(scan->ruby, list, scan->count,
				    &scan->pages[scan->count - 1]) &&
	       read_parts(scan, unprotected);
}

bool rcore_heap_scan(struct rcore_ruby *ruby, uint64_t objspace, bool unprotected,
		     rcore_heap_scan_visit *visit, void *context)
{
	const struct rcore_layout *layout = ruby->layout;
	struct scan scan = {
		.ruby = ruby,
		.visit = visit,
		.context = context,
		.head = head_size(layout),
	};
	uint64_t list, count;
	if (!ruby->live || ruby->recorder || ruby->unmoved || layout->traits.heap_pages_darray)
		return false;
	rcore_auto_error err = rcore_heap_page_list(ruby, objspace, &list, &count);
	if (err || !count || count > PAGES)
		return false;
	scan.count = count;
	bool is_complete = scan_all(&scan, list, unprotected);
	free(scan.addresses);
	free(scan.heads);
	free(scan.pages);
	free(scan.bits);
	free(scan.parts.items);
	free(scan.ranges.items);
	return is_complete;
}
