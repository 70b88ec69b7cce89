/* SPDX-License-Identifier: MIT */
#include "ruby/object/heap_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ruby/get.h"

enum {
	PAGE_COUNT_LIMIT = 1 << 24, /* 1 TiB of pages of 64 KiB */
	PROVED_PAGES = 64,
	PAGE_SIZE_LIMIT = 64 << 10,
	SLOT_SIZE_LIMIT = 1024,
	OVERHEAD = 64,    /* bytes at the end of a page that are not slots */
	LIST_CHUNK = 512, /* page pointers read at once */
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
	if (!align || align > PAGE_SIZE_LIMIT)
		return false;
	uint64_t offset = page->start % align;
	return page->slot_size >= 8 && page->slot_size <= SLOT_SIZE_LIMIT &&
	       !(page->start % 8) && page->slots <= (align - offset) / page->slot_size &&
	       align - offset - page->slots * page->slot_size < page->slot_size + OVERHEAD;
}

bool rcore_heap_page_read(struct rcore_ruby *ruby, uint64_t address,
			  struct rcore_heap_page *page)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t slots, slot_size, back;
	if (!read_size(ruby, address, &slots, &slot_size) ||
	    rcore_read_field(ruby->memory, address, &layout->heap_page.start, &page->start))
		return false;
	page->slot_size = slot_size;
	page->slots = slots;
	return rcore_heap_page_fits(ruby, page) &&
	       !rcore_read_u64(ruby->memory,
			       page->start - page->start % layout->traits.heap_page_align,
			       &back) &&
	       back == address;
}

/*
 * heap_page_allocate() (from 3.4 on: heap_add_page()) puts a blank heap_page
 * into the list first, and then writes where its slots are, in an order that
 * the compiler chooses. Until both numbers are there, it contains no object.
 */
static bool is_being_made(struct rcore_ruby *ruby, uint64_t address)
{
	uint64_t slots, slot_size;
	return read_size(ruby, address, &slots, &slot_size) && (!slots || !slot_size) &&
	       slots <= PAGE_SIZE_LIMIT && slot_size <= SLOT_SIZE_LIMIT;
}

/*
 * From 3.4 on, a page that has lost its last object is blank until it is used
 * again or freed, and stays in the list (gc_sweep_step() of
 * gc/default/default.c). After much garbage, most pages are.
 */
static bool is_empty(struct rcore_ruby *ruby, uint64_t address)
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
		if (is_empty(ruby, page))
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
		if (some > 1 && !one_is_being_made && is_being_made(ruby, address)) {
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

/* Finds the heap_page whose body contains an address. */
static bool page_of(struct rcore_ruby *ruby, uint64_t address, uint64_t *heap_page,
		    struct rcore_heap_page *page)
{
	uint64_t align = ruby->layout->traits.heap_page_align;
	return align && !rcore_read_u64(ruby->memory, address - address % align, heap_page) &&
	       rcore_heap_page_read(ruby, *heap_page, page);
}

static bool has_slot_at(const struct rcore_heap_page *page, uint64_t address)
{
	return address >= page->start && address - page->start < page->slots * page->slot_size;
}

bool rcore_heap_page_at(struct rcore_ruby *ruby, uint64_t address, struct rcore_heap_page *ret)
{
	uint64_t heap_page;
	return page_of(ruby, address, &heap_page, ret);
}

/*
 * enum gc_mode of gc.c, from 3.4 on of gc/default/default.c; the same from 2.6
 * to 4.0.
 */
enum { GC_MODE_SWEEPING = 2 };

bool rcore_heap_is_sweeping(struct rcore_ruby *ruby, uint64_t objspace)
{
	uint64_t mode;
	return !rcore_read_field(ruby->memory, objspace, &ruby->layout->objspace.gc_mode,
				 &mode) &&
	       mode == GC_MODE_SWEEPING;
}

bool rcore_heap_may_be_garbage(struct rcore_ruby *ruby, uint64_t value, bool is_collecting)
{
	enum { BITS = 64 }; /* of a bits_t */
	const struct rcore_layout *layout = ruby->layout;
	uint64_t heap_page, before_sweep, marks;
	struct rcore_heap_page page;
	if (!rcore_has_place(&layout->heap_page.mark_bits) ||
	    !page_of(ruby, value, &heap_page, &page) || !has_slot_at(&page, value) ||
	    rcore_read_field(ruby->memory, heap_page, &layout->heap_page.before_sweep,
			     &before_sweep) ||
	    (!before_sweep && !is_collecting))
		return false;
	/* NUM_IN_PAGE(): a larger slot has the bit of its first 40 bytes. */
	uint64_t bit =
		value % layout->traits.heap_page_align / layout->traits.default_slot_size;
	uint64_t word =
		(uint64_t)layout->heap_page.mark_bits.offset + bit / BITS * sizeof(marks);
	return word + sizeof(marks) <= layout->heap_page.size &&
	       !rcore_read_u64(ruby->memory, heap_page + word, &marks) &&
	       !(marks >> bit % BITS & 1);
}

bool rcore_heap_is_garbage(struct rcore_ruby *ruby, uint64_t value)
{
	return rcore_heap_may_be_garbage(ruby, value, false);
}

bool rcore_heap_slot(struct rcore_ruby *ruby, uint64_t address, uint64_t *ret_value,
		     enum rcore_type *ret_type)
{
	uint64_t heap_page, flags;
	struct rcore_heap_page page;
	if (!page_of(ruby, address, &heap_page, &page) || !has_slot_at(&page, address))
		return false;
	uint64_t value = address - (address - page.start) % page.slot_size;
	struct rcore_memory *memory = ruby->unmoved ? ruby->unmoved : ruby->memory;
	if (rcore_read_u64(memory, value, &flags))
		return false;
	*ret_value = value;
	*ret_type = flags & RCORE_T_MASK;
	return true;
}

struct walk {
	struct rcore_ruby *ruby;
	uint32_t types;
	rcore_heap_visit *visit;
	rcore_heap_visit_page *visit_page; /* instead of it */
	void *context;
	unsigned char *buffer; /* PAGE_SIZE_LIMIT bytes */
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

/* Returns false if the page cannot be read. */
static bool walk_page(const struct walk *walk, const struct rcore_heap_page *page, bool *go_on)
{
	record_flags(walk, page);
	if (!read_slots(walk, page->start, page->slots * page->slot_size))
		return walk_parts(walk, page, go_on);
	for (size_t i = 0; i < page->slots && *go_on; i++)
		*go_on = offer(walk, page->start + i * page->slot_size,
			       walk->buffer + i * page->slot_size, page->slot_size);
	return true;
}

/*
 * Pages are in the order of their slots, so one that occurs twice is at the
 * wrong place once.
 */
static bool walk_entry(const struct walk *walk, uint64_t heap_page, uint64_t *last, bool *go_on)
{
	struct rcore_heap_page page;
	if (!rcore_heap_page_read(walk->ruby, heap_page, &page) || page.start <= *last)
		return false;
	if (walk->visit_page) {
		bool read = read_slots(walk, page.start, page.slots * page.slot_size);
		*go_on = walk->visit_page(walk->context, heap_page, &page,
					  read ? walk->buffer : NULL);
	} else if (!walk_page(walk, &page, go_on)) {
		return false;
	}
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
};

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

static void walk_one(const struct walk *walk, uint64_t page, struct pages *pages, bool *go_on)
{
	bool is_unused = is_empty(walk->ruby, page);
	bool is_one =
		!is_unused && !pages->one_is_being_made && is_being_made(walk->ruby, page);
	if (is_unused || is_one) {
		pages->one_is_being_made |= is_one;
	} else if (!walk_entry(walk, page, &pages->last, go_on)) {
		pages->bad++;
		pages->gone += pages->done < pages->count &&
			       (occurs_before(walk->ruby, page, pages->last) ||
				is_freed(walk->ruby, page, pages->is_sweeping));
	}
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
	walk->buffer = malloc(PAGE_SIZE_LIMIT);
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
