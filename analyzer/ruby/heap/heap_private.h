/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_HEAP_PRIVATE_H
#define RCORE_RUBY_HEAP_PRIVATE_H

#include "ruby/heap/heap.h"

/* Finds the array of heap_page pointers. */
struct rcore_error *rcore_heap_page_list(struct rcore_ruby *ruby, uint64_t objspace,
					 uint64_t *list, uint64_t *count);

/* Returns the index of the bit that each bitmap of a page has for a slot. */
static inline uint64_t rcore_heap_bit(const struct rcore_layout *layout, uint64_t value)
{
	/* NUM_IN_PAGE(): a larger slot has the bit of its first 40 bytes. */
	return value % layout->traits.heap_page_align / layout->traits.default_slot_size;
}

/*
 * Returns whether the slots of a page fill one aligned body, except a few words
 * for malloc() (HEAP_PAGE_SIZE of gc.c).
 */
bool rcore_heap_page_fits(const struct rcore_ruby *ruby, const struct rcore_heap_page *page);

/*
 * Reads the heap_page at `address`. Returns false if it cannot be read, if its
 * slots do not fit, or if its body does not point back to it.
 */
bool rcore_heap_page_read(struct rcore_ruby *ruby, uint64_t address,
			  struct rcore_heap_page *page);
/* The same, but does not look at the body. */
bool rcore_heap_page_read_head(struct rcore_ruby *ruby, uint64_t address,
			       struct rcore_heap_page *page);

/* Returns the start of a page's body. */
static inline uint64_t rcore_heap_page_body(const struct rcore_ruby *ruby,
					    const struct rcore_heap_page *page)
{
	return page->start - page->start % ruby->layout->traits.heap_page_align;
}

/*
 * Returns whether no page follows the first `count` ones of the list. The
 * counter may not include the newest page yet. `last` is the last one that has
 * slots.
 */
bool rcore_heap_list_ends(struct rcore_ruby *ruby, uint64_t list, size_t count,
			  const struct rcore_heap_page *last);

/* No page of the heap is larger. */
enum { RCORE_HEAP_PAGE_SIZE_LIMIT = 64 << 10 };

/*
 * Returns whether CRuby is just making a page: heap_page_allocate() (from
 * 3.4 on: heap_add_page()) puts a blank heap_page into the list first, and then
 * writes where its slots are, in an order that the compiler chooses. Until both
 * numbers are there, and up to 3.3 until the body points to the heap_page, it
 * contains no object.
 */
bool rcore_heap_page_is_new(struct rcore_ruby *ruby, uint64_t address);

/*
 * Returns whether a page has no slots. From 3.4 on, a page that has lost its
 * last object is blank until it is used again or freed, and stays in the list
 * (gc_sweep_step() of gc/default/default.c). After much garbage, most pages
 * are.
 */
bool rcore_heap_page_is_empty(struct rcore_ruby *ruby, uint64_t address);

#endif
