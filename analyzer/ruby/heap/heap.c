/* SPDX-License-Identifier: MIT */
#include "ruby/heap/heap_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "ruby/get.h"

enum {
	PAGE_COUNT_LIMIT = 1 << 24, /* 1 TiB of pages of 64 KiB */
	PROVED_PAGES = 64,
	SLOT_SIZE_LIMIT = 1024,
	OVERHEAD = 64, /* bytes at the end of a page that are not slots */
	/* bytes of a page's bitmap that are compared */
	BITMAP_LIMIT = 256,
	/* empty pages passed in search of one to prove */
	EMPTY_LIMIT = 1 << 10,
};

struct rcore_error *rcore_heap_page_list(struct rcore_ruby *ruby, uint64_t objspace,
					 uint64_t *list, uint64_t *count)
{
	const struct rcore_layout *layout = ruby->layout;
	struct rcore_error *err = RCORE_GET(ruby, objspace, objspace, heap_pages_sorted, list);
	if (err)
		return err;
	if (!layout->traits.heap_pages_darray) {
		err = RCORE_GET(ruby, objspace, objspace, heap_pages_allocated, count);
	} else if (!*list) { /* an empty rb_darray */
		*count = 0;
	} else {
		err = RCORE_GET(ruby, *list, darray, length, count);
		*list += layout->darray.size;
	}
	if (!err && *count > PAGE_COUNT_LIMIT)
		err = rcore_error_create(RCORE_ERROR_LIMIT,
					 "objspace 0x%" PRIx64 " has %" PRIu64 " heap pages",
					 objspace, *count);
	return err;
}

/*
 * Whether the whole list is in memory, not only its first pages: also reads the
 * end of the array of pointers.
 */
static struct rcore_error *check_end(struct rcore_ruby *ruby, uint64_t list, uint64_t count)
{
	uint64_t last, address = list + (count - 1) * sizeof(last);
	enum rcore_fault fault = rcore_read_u64(ruby->memory, address, &last);
	return fault ? rcore_fault_error(fault, "list of heap pages", address, sizeof(last))
		     : NULL;
}

/* Reads how many slots a page has and how large they are; 0: not written. */
static bool read_size(struct rcore_ruby *ruby, uint64_t address, uint64_t *slots,
		      uint64_t *slot_size)
{
	const struct rcore_layout *layout = ruby->layout;
	*slot_size = layout->traits.default_slot_size;
	return rcore_is_object(ruby, address) &&
	       !rcore_read_field(ruby->memory, address, &layout->heap_page.total_slots,
				 slots) &&
	       (!rcore_has(&layout->heap_page.slot_size) ||
		!rcore_read_field(ruby->memory, address, &layout->heap_page.slot_size,
				  slot_size));
}

bool rcore_heap_page_fits(const struct rcore_ruby *ruby, const struct rcore_heap_page *page)
{
	uint64_t align = ruby->layout->traits.heap_page_align;
	if (!align || align > RCORE_HEAP_PAGE_SIZE_LIMIT)
		return false;
	uint64_t offset = page->start % align;
	/* In all releases, even of larger slots, the first is where one of the
	 * smallest would be (heap_page_allocate(), heap_add_page()). */
	return page->slot_size >= 8 && page->slot_size <= SLOT_SIZE_LIMIT &&
	       !(page->start % ruby->layout->traits.default_slot_size) &&
	       page->slots <= (align - offset) / page->slot_size &&
	       align - offset - page->slots * page->slot_size < page->slot_size + OVERHEAD;
}

bool rcore_heap_page_read_head(struct rcore_ruby *ruby, uint64_t address,
			       struct rcore_heap_page *page)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t slots, slot_size;
	if (!read_size(ruby, address, &slots, &slot_size) ||
	    rcore_read_field(ruby->memory, address, &layout->heap_page.start, &page->start))
		return false;
	page->heap_page = address;
	page->slot_size = slot_size;
	page->slots = slots;
	return rcore_heap_page_fits(ruby, page);
}

bool rcore_heap_page_read(struct rcore_ruby *ruby, uint64_t address,
			  struct rcore_heap_page *page)
{
	uint64_t back;
	return rcore_heap_page_read_head(ruby, address, page) &&
	       !rcore_read_u64(ruby->memory, rcore_heap_page_body(ruby, page), &back) &&
	       back == address;
}

bool rcore_heap_list_ends(struct rcore_ruby *ruby, uint64_t list, size_t count,
			  const struct rcore_heap_page *last)
{
	struct rcore_heap_page page;
	uint64_t next;
	return rcore_read_u64(ruby->memory, list + count * sizeof(next), &next) ||
	       !rcore_heap_page_read(ruby, next, &page) || page.start <= last->start;
}

static bool is_zero(struct rcore_ruby *ruby, uint64_t address, const struct rcore_field *field)
{
	static const unsigned char zeroes[BITMAP_LIMIT];
	unsigned char bytes[BITMAP_LIMIT];
	size_t size = field->size < sizeof(bytes) ? field->size : sizeof(bytes);
	return !rcore_has(field) ||
	       (!rcore_read(ruby->memory, address + (uint64_t)field->offset, bytes, size) &&
		!memcmp(bytes, zeroes, size));
}

/* Up to 3.3, a heap_page comes from calloc(). Later it may be an empty one. */
static bool is_blank(struct rcore_ruby *ruby, uint64_t address)
{
	const struct rcore_layout *layout = ruby->layout;
	const struct rcore_field *const bitmaps[] = {
		&layout->heap_page.mark_bits, &layout->heap_page.wb_unprotected_bits,
		&layout->heap_page.uncollectible_bits, &layout->heap_page.marking_bits,
		&layout->heap_page.pinned_bits};
	bool is = true;
	for (size_t i = 0; i < RCORE_COUNT(bitmaps) && is; i++)
		is = layout->traits.heap_pages_darray || is_zero(ruby, address, bitmaps[i]);
	return is;
}

/*
 * Up to 3.3, heap_page_allocate() writes where the slots are before it lets the
 * body point to its heap_page. This is the first write to the body, so the
 * kernel often has to find memory for it. At such a page fault, a thread may
 * lose the processor or be stopped; until then, the body reads as zeroes. If
 * only its first word is 0, it is damaged.
 *
 * Reads no further than the first other word: a pack keeps what is read here,
 * and what follows may be texts that were to be removed from it.
 */
static bool has_untouched_body(struct rcore_ruby *ruby, uint64_t address, uint64_t slots,
			       uint64_t slot_size)
{
	enum { TOUCHED_AT_ONCE = 4096 };
	const struct rcore_layout *layout = ruby->layout;
	struct rcore_heap_page page = {.slots = slots, .slot_size = slot_size};
	if (layout->traits.heap_pages_darray ||
	    rcore_read_field(ruby->memory, address, &layout->heap_page.start, &page.start) ||
	    !rcore_heap_page_fits(ruby, &page))
		return false;
	uint64_t body = rcore_heap_page_body(ruby, &page), word = 0;
	for (size_t at = 0; at < TOUCHED_AT_ONCE && !word; at += sizeof(word))
		if (rcore_read_u64(ruby->memory, body + at, &word))
			return false;
	return !word;
}

bool rcore_heap_page_is_new(struct rcore_ruby *ruby, uint64_t address)
{
	uint64_t slots, slot_size;
	return read_size(ruby, address, &slots, &slot_size) &&
	       slots <= RCORE_HEAP_PAGE_SIZE_LIMIT && slot_size <= SLOT_SIZE_LIMIT &&
	       (!slots || !slot_size || has_untouched_body(ruby, address, slots, slot_size)) &&
	       is_blank(ruby, address);
}

bool rcore_heap_page_is_empty(struct rcore_ruby *ruby, uint64_t address)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t start, slots, slot_size;
	return layout->traits.heap_pages_darray &&
	       read_size(ruby, address, &slots, &slot_size) && !slots && !slot_size &&
	       !rcore_read_field(ruby->memory, address, &layout->heap_page.start, &start) &&
	       !start;
}

/*
 * A core may lack a page. Then its heap_page struct can be read, but its body
 * cannot.
 */
static bool is_absent(struct rcore_ruby *ruby, uint64_t address)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t start, back;
	return rcore_is_object(ruby, address) &&
	       !rcore_read_field(ruby->memory, address, &layout->heap_page.start, &start) &&
	       start && layout->traits.heap_page_align &&
	       rcore_read_u64(ruby->memory, start - start % layout->traits.heap_page_align,
			      &back);
}

/*
 * Reads the entry `at` of the list, or the first one after it and before `end`
 * that is not an empty page: *ret is 0 if there is none. Returns false if the
 * list cannot be read.
 */
static bool next_page(struct rcore_ruby *ruby, uint64_t list, uint64_t at, uint64_t end,
		      uint64_t *ret)
{
	*ret = 0;
	for (uint64_t i = at; i < end && i - at < EMPTY_LIMIT; i++) {
		uint64_t page;
		if (rcore_read_u64(ruby->memory, list + i * sizeof(page), &page))
			return false;
		if (rcore_heap_page_is_empty(ruby, page))
			continue;
		*ret = page;
		return true;
	}
	return true;
}

struct rcore_error *rcore_heap_prove(struct rcore_ruby *ruby, uint64_t objspace,
				     size_t *ret_tested, size_t *ret_held)
{
	uint64_t list, count, address = 0, last = 0;
	size_t tested = 0, held = 0, empty = 0;
	bool one_is_being_made = false;
	struct rcore_error *err = rcore_heap_page_list(ruby, objspace, &list, &count);
	if (!err && !count)
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "objspace 0x%" PRIx64 " has no heap pages", objspace);
	if (!err)
		err = check_end(ruby, list, count);
	if (err)
		return err;
	uint64_t some = count < PROVED_PAGES ? count : PROVED_PAGES;
	for (uint64_t i = 0; i < some; i++) {
		uint64_t at = some > 1 ? i * (count - 1) / (some - 1) : 0;
		uint64_t end = i + 1 < some ? (i + 1) * (count - 1) / (some - 1) : count;
		uint64_t before = address, next;
		struct rcore_heap_page page;
		/*
		 * memmove() makes room for a new page in the sorted list: until
		 * it is done, an entry may be there twice.
		 */
		if (!next_page(ruby, list, at, end, &next))
			continue;
		if (!next) {
			empty++;
			continue;
		}
		address = next;
		if (is_absent(ruby, address) || (i && address == before))
			continue;
		if (some > 1 && !one_is_being_made && rcore_heap_page_is_new(ruby, address)) {
			one_is_being_made = true;
			continue;
		}
		tested++;
		if (!rcore_heap_page_read(ruby, address, &page) || !page.slots ||
		    page.start <= last)
			continue;
		held++;
		last = page.start;
	}
	if (empty == some)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "all heap pages of objspace 0x%" PRIx64 " are empty",
					  objspace);
	*ret_tested = tested;
	*ret_held = held;
	return NULL;
}

/*
 * enum gc_mode of gc.c, from 3.4 on of gc/default/default.c; the same from 2.6
 * to 4.0, but only 3.2 and later have the last one. In that mode,
 * gc_sweep_compact() sweeps the pages to which it moves objects.
 */
enum { GC_MODE_SWEEPING = 2, GC_MODE_COMPACTING };

bool rcore_heap_is_sweeping(struct rcore_ruby *ruby, uint64_t objspace)
{
	uint64_t mode;
	return !rcore_read_field(ruby->memory, objspace, &ruby->layout->objspace.gc_mode,
				 &mode) &&
	       (mode == GC_MODE_SWEEPING ||
		(mode == GC_MODE_COMPACTING && ruby->layout->traits.gc_mode_compacting));
}

bool rcore_heap_is_collecting(struct rcore_ruby *ruby, uint64_t objspace)
{
	uint64_t during_gc;
	return rcore_read_field(ruby->memory, objspace, &ruby->layout->objspace.during_gc,
				&during_gc) ||
	       during_gc;
}
