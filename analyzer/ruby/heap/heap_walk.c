/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/page_buffer.h"
#include "ruby/heap/heap_private.h"

enum {
	LIST_CHUNK = 512, /* page pointers read at once */
	/* bodies searched at each end of a gap between two pages */
	GAP_LIMIT = 1 << 12,
};

struct walk {
	struct rcore_ruby *ruby;
	uint32_t types;
	rcore_heap_visit *visit;
	rcore_heap_visit_page *visit_page; /* instead of it */
	void *context;
	unsigned char *buffer; /* RCORE_HEAP_PAGE_SIZE_LIMIT bytes */
};

/* A page in a pack may have only the flags of its objects. */
static bool read_slots(const struct walk *walk, uint64_t start, size_t size)
{
	struct rcore_recorder *recorder = walk->ruby->recorder;
	if (recorder)
		rcore_recorder_pause(recorder, true);
	bool read = !size || !rcore_read(walk->ruby->memory, start, walk->buffer, size);
	if (recorder)
		rcore_recorder_pause(recorder, false);
	return read;
}

static void record_flags(const struct walk *walk, const struct rcore_heap_page *page)
{
	for (size_t i = 0; walk->ruby->recorder && i < page->slots; i++)
		rcore_recorder_add(walk->ruby->recorder, page->start + i * page->slot_size,
				   sizeof(uint64_t));
}

/* Returns false if the visitor wants no more. */
static bool offer(const struct walk *walk, uint64_t value, const unsigned char *copy,
		  size_t size)
{
	uint64_t flags;
	memcpy(&flags, copy, sizeof(flags));
	return !(walk->types >> (flags & RCORE_T_MASK) & 1) ||
	       walk->visit(walk->context, value, copy, size);
}

/*
 * Walks a page of a pack, or one that a core has in part, with what there is of
 * each slot.
 */
static bool walk_parts(const struct walk *walk, const struct rcore_heap_page *page, bool *go_on)
{
	for (size_t i = 0; i < page->slots && *go_on; i++) {
		uint64_t value = page->start + i * page->slot_size;
		if (read_slots(walk, value, page->slot_size))
			*go_on = offer(walk, value, walk->buffer, page->slot_size);
		else if (read_slots(walk, value, sizeof(uint64_t)))
			*go_on = offer(walk, value, walk->buffer, sizeof(uint64_t));
		else if (!i)
			return false;
	}
	return true;
}

/*
 * Reads a page and its slots. The body's first word points to the page, so both
 * are read at once. Returns false if there is no page; *ret_slots is NULL if
 * not all slots can be read.
 */
static bool read_page(const struct walk *walk, uint64_t heap_page, struct rcore_heap_page *page,
		      const unsigned char **ret_slots)
{
	struct rcore_ruby *ruby = walk->ruby;
	*ret_slots = NULL;
	/* A pack keeps what is read, so for one, no slots are read here. */
	if (!ruby->recorder && rcore_heap_page_read_head(ruby, heap_page, page)) {
		uint64_t body = rcore_heap_page_body(ruby, page), back;
		size_t before = page->start - body;
		if (read_slots(walk, body, before + page->slots * page->slot_size)) {
			memcpy(&back, walk->buffer, sizeof(back));
			*ret_slots = walk->buffer + before;
			return back == heap_page;
		}
	}
	if (!rcore_heap_page_read(ruby, heap_page, page))
		return false;
	if (read_slots(walk, page->start, page->slots * page->slot_size))
		*ret_slots = walk->buffer;
	return true;
}

/* Returns false if the page cannot be read. */
static bool walk_page(const struct walk *walk, const struct rcore_heap_page *page,
		      const unsigned char *slots, bool *go_on)
{
	record_flags(walk, page);
	if (!slots)
		return walk_parts(walk, page, go_on);
	for (size_t i = 0; i < page->slots && *go_on; i++)
		*go_on = offer(walk, page->start + i * page->slot_size,
			       slots + i * page->slot_size, page->slot_size);
	return true;
}

/*
 * Pages are in the order of their slots, so one that occurs twice is at the
 * wrong place once.
 */
static bool walk_entry(const struct walk *walk, uint64_t heap_page, uint64_t *last, bool *go_on)
{
	struct rcore_heap_page page;
	const unsigned char *slots;
	if (!read_page(walk, heap_page, &page, &slots) || page.start <= *last)
		return false;
	if (walk->visit_page)
		*go_on = walk->visit_page(walk->context, heap_page, &page, slots);
	else if (!walk_page(walk, &page, slots, go_on))
		return false;
	*last = page.start;
	return true;
}

/*
 * heap_page_free() of gc.c has given the memory of a page back, but its entry
 * is not overwritten yet. Only the collector frees pages whose body stays
 * mapped.
 */
static bool is_freed(struct rcore_ruby *ruby, uint64_t address, bool is_sweeping)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t start, back, align = layout->traits.heap_page_align;
	if (rcore_read_field(ruby->memory, address, &layout->heap_page.start, &start))
		return is_sweeping;
	enum rcore_fault fault = rcore_read_u64(ruby->memory, start - start % align, &back);
	return fault == RCORE_FAULT_UNMAPPED ||
	       (fault == RCORE_FAULT_NONE && back != address && is_sweeping);
}

static bool occurs_before(struct rcore_ruby *ruby, uint64_t address, uint64_t last)
{
	struct rcore_heap_page page;
	return rcore_heap_page_read(ruby, address, &page) && page.start <= last;
}

struct pages {
	uint64_t list, count;
	bool is_sweeping;
	uint64_t last; /* start of the last one that was walked */
	uint64_t done; /* entries of the list */
	uint64_t bad;  /* of these, no pages */
	/* Of these within the count, freed or in the list twice. */
	uint64_t gone;
	bool one_is_being_made;
	/* The gap that was searched last: the start of the page before it. */
	uint64_t gap;
	bool gap_is_searched;
	size_t gap_pages; /* that the list has lost there */
};

/* Counts the pages that have their bodies in [from, to) and point to them. */
static size_t count_pages(struct rcore_ruby *ruby, uint64_t from, uint64_t to)
{
	uint64_t align = ruby->layout->traits.heap_page_align;
	size_t count = 0;
	for (uint64_t body = from; body < to; body += align) {
		uint64_t address;
		struct rcore_heap_page page;
		count += !rcore_read_u64(ruby->memory, body, &address) &&
			 rcore_heap_page_read(ruby, address, &page) && page.slots &&
			 page.start - body < align;
	}
	return count;
}

/* Returns the start of the next page in the list; 0: there is none. */
static uint64_t start_of_next(struct rcore_ruby *ruby, const struct pages *pages)
{
	for (uint64_t i = pages->done + 1; i < pages->count; i++) {
		uint64_t address;
		struct rcore_heap_page page;
		if (rcore_read_u64(ruby->memory, pages->list + i * sizeof(address), &address))
			return 0;
		if (rcore_heap_page_read(ruby, address, &page) && page.slots)
			return page.start;
	}
	return 0;
}

static size_t search_gap(struct rcore_ruby *ruby, const struct pages *pages)
{
	uint64_t align = ruby->layout->traits.heap_page_align, most = GAP_LIMIT * align;
	uint64_t next = start_of_next(ruby, pages), to = next - next % align;
	uint64_t from = pages->last - pages->last % align + align;
	if (!pages->last && !next)
		return 0;
	if (!next)
		return from < UINT64_MAX - most ? count_pages(ruby, from, from + most) : 0;
	if (!pages->last)
		return count_pages(ruby, to > most ? to - most : align, to);
	if (from >= to || to - from <= 2 * most)
		return count_pages(ruby, from, to);
	return count_pages(ruby, from, from + most) + count_pages(ruby, to - most, to);
}

/*
 * Whether an entry that leads to zeroes stands in for a page that the list has
 * lost. The list is in the order of the bodies. So the bodies between the pages
 * before and after such an entry are those of pages that have no slots, or not
 * yet. If one of them belongs to a page with slots, damage changed the entry:
 * CRuby does not overwrite an entry before its page is gone. Returns false if
 * the core lacks that body, or if it is too far from both pages.
 */
static bool hides_page(struct rcore_ruby *ruby, struct pages *pages)
{
	if (!ruby->layout->traits.heap_page_align)
		return false;
	if (!pages->gap_is_searched || pages->gap != pages->last) {
		pages->gap = pages->last;
		pages->gap_is_searched = true;
		pages->gap_pages = search_gap(ruby, pages);
	}
	if (!pages->gap_pages)
		return false;
	pages->gap_pages--;
	return true;
}

/* Pages that were freed are at the end of the list, or beyond the count. */
static void walk_rest(const struct walk *walk, struct pages *pages, bool *go_on)
{
	uint64_t page;
	while (*go_on && pages->done < 2 * pages->count &&
	       !rcore_read_u64(walk->ruby->memory, pages->list + pages->done * sizeof(page),
			       &page) &&
	       walk_entry(walk, page, &pages->last, go_on))
		pages->done++;
}

/* An entry of the list that is no page, or not in the order of pages. */
static void pass_over(const struct walk *walk, uint64_t page, struct pages *pages)
{
	bool is_unused = rcore_heap_page_is_empty(walk->ruby, page);
	/* After the list, any pointer to zeroes looks like a new page. */
	bool is_one = !is_unused && !pages->one_is_being_made && pages->done < pages->count &&
		      rcore_heap_page_is_new(walk->ruby, page);
	if ((is_unused || is_one) && pages->done < pages->count &&
	    hides_page(walk->ruby, pages)) {
		pages->bad++;
	} else if (is_unused || is_one) {
		pages->one_is_being_made |= is_one;
	} else {
		pages->bad++;
		pages->gone += pages->done < pages->count &&
			       (occurs_before(walk->ruby, page, pages->last) ||
				is_freed(walk->ruby, page, pages->is_sweeping));
	}
}

static void walk_one(const struct walk *walk, uint64_t page, struct pages *pages, bool *go_on)
{
	if (!walk_entry(walk, page, &pages->last, go_on))
		pass_over(walk, page, pages);
	pages->done++;
}

/*
 * While the collector frees pages, or makes room for a new one, pages may be in
 * the list twice or freed, and as many at its end are beyond the count
 * (heap_pages_free_unused_pages() and heap_page_allocate() of gc.c). So for
 * each entry that is not a page, the walk continues by one more, and at the end
 * with any further pages: one that is about to be freed still looks like a
 * page. It succeeds if it found as many pages as the counter says; from 3.4 on,
 * the counter is that of all entries.
 */
static struct rcore_error *walk_list(const struct walk *walk, struct pages *pages,
				     size_t *unreadable)
{
	uint64_t chunk[LIST_CHUNK];
	bool go_on = true;
	while (pages->done < pages->count + pages->bad && pages->bad <= pages->count && go_on) {
		uint64_t left = pages->count + pages->bad - pages->done;
		size_t some = left < LIST_CHUNK ? left : LIST_CHUNK;
		uint64_t address = pages->list + pages->done * sizeof(*chunk);
		enum rcore_fault fault =
			rcore_read(walk->ruby->memory, address, chunk, some * sizeof(*chunk));
		if (fault != RCORE_FAULT_NONE && pages->done >= pages->count)
			break;
		if (fault != RCORE_FAULT_NONE)
			return rcore_fault_error(fault, "list of heap pages", address,
						 some * sizeof(*chunk));
		for (size_t i = 0; i < some && go_on; i++)
			walk_one(walk, chunk[i], pages, &go_on);
	}
	walk_rest(walk, pages, &go_on);
	uint64_t found = pages->done - pages->bad, wanted = pages->count;
	if (walk->ruby->layout->traits.heap_pages_darray)
		wanted -= pages->gone;
	if (go_on && found < wanted)
		*unreadable = wanted - found;
	return NULL;
}

static struct rcore_error *run_walk(struct walk *walk, uint64_t objspace,
				    size_t *unreadable_pages)
{
	struct pages pages = {.is_sweeping = rcore_heap_is_sweeping(walk->ruby, objspace)};
	size_t unreadable = 0;
	struct rcore_error *err =
		rcore_heap_page_list(walk->ruby, objspace, &pages.list, &pages.count);
	if (err)
		return err;
	walk->buffer = rcore_page_buffer(RCORE_HEAP_PAGE_SIZE_LIMIT);
	if (!walk->buffer)
		return rcore_error_no_memory();
	err = walk_list(walk, &pages, &unreadable);
	free(walk->buffer);
	if (unreadable_pages)
		*unreadable_pages = unreadable;
	return err;
}

struct rcore_error *rcore_heap_walk_types(struct rcore_ruby *ruby, uint64_t objspace,
					  uint32_t types, rcore_heap_visit *visit,
					  void *context, size_t *unreadable_pages)
{
	struct walk walk = {.ruby = ruby, .types = types, .visit = visit, .context = context};
	return run_walk(&walk, objspace, unreadable_pages);
}

struct rcore_error *rcore_heap_walk_pages(struct rcore_ruby *ruby, uint64_t objspace,
					  rcore_heap_visit_page *visit, void *context,
					  size_t *unreadable_pages)
{
	struct walk walk = {.ruby = ruby, .visit_page = visit, .context = context};
	return run_walk(&walk, objspace, unreadable_pages);
}

struct rcore_error *rcore_heap_walk(struct rcore_ruby *ruby, uint64_t objspace,
				    enum rcore_type type, rcore_heap_visit *visit,
				    void *context, size_t *unreadable_pages)
{
	return rcore_heap_walk_types(ruby, objspace, UINT32_C(1) << type, visit, context,
				     unreadable_pages);
}
