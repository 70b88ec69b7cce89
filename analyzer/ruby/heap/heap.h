/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_HEAP_H
#define RCORE_RUBY_HEAP_H

/*
 * ruby/heap/ finds the pages and slots of the GC heap, and objects that a
 * compacting GC has moved. It includes ruby/object/. Start here.
 */

#include "ruby/object/value.h"

/*
 * The GC heap. objspace.heap_pages.sorted is an array (from 3.4 on, a
 * rb_darray) of heap_page pointers. Each page has total_slots slots of
 * slot_size bytes from `start` on, in an aligned body whose first word points
 * back to the heap_page, which shows that it is one. Mirrors gc.c (from 3.4 on:
 * gc/default/default.c).
 */

/* The slots of a page. */
struct rcore_heap_page {
	uint64_t heap_page; /* CRuby's struct for it */
	uint64_t start;
	size_t slot_size, slots;
	bool before_sweep; /* only rcore_heap_core_scan() reads it */
};

/*
 * Finds the page whose body contains `address`. Returns false if there is none.
 */
bool rcore_heap_page_at(struct rcore_ruby *ruby, uint64_t address, struct rcore_heap_page *ret);

/*
 * Finds the slot that contains `address`, and its type. Returns false if it is
 * in no page of the heap.
 */
bool rcore_heap_slot(struct rcore_ruby *ruby, uint64_t address, uint64_t *ret_value,
		     enum rcore_type *ret_type);

/* Whether the collector is freeing garbage, a part at a time. */
bool rcore_heap_is_sweeping(struct rcore_ruby *ruby, uint64_t objspace);

/* Whether it is at work at this moment, or that is not known. */
bool rcore_heap_is_collecting(struct rcore_ruby *ruby, uint64_t objspace);

/*
 * Whether the collector has found this object to be garbage but has not freed
 * it yet: its page will be swept, and it has no mark. What it refers to may be
 * freed already. Mirrors is_garbage_object() of gc.c (garbage_object_p() of
 * gc/default/default.c). Also returns false if the layout lacks a field for
 * this.
 */
bool rcore_heap_is_garbage(struct rcore_ruby *ruby, uint64_t value);

/*
 * Does the same, but is also true for an object of the page that is just being
 * swept, if the collector is at work: gc_sweep_page() clears before_sweep
 * first. Young objects of pages that were swept before have no mark either.
 */
bool rcore_heap_may_be_garbage(struct rcore_ruby *ruby, uint64_t value, bool is_collecting);

/*
 * Returns whether the object in this slot is certainly not garbage, even while
 * the collector is freeing some. It is marked, or its page has no garbage,
 * because the page was swept before and the collector is not at work. Also
 * returns false if this cannot be read.
 */
bool rcore_heap_is_alive(struct rcore_ruby *ruby, uint64_t value, bool is_collecting);

/*
 * Lets the copy of a running process contain what these read of an object,
 * whether or not the collector is freeing garbage now.
 */
void rcore_heap_keep_marks(struct rcore_ruby *ruby, uint64_t value);

/*
 * Whether an object is known to have no write barriers: the collector has to
 * look at it again each time.
 */
bool rcore_heap_is_unprotected(struct rcore_ruby *ruby, uint64_t value);

/*
 * Checks the list of pages on a few of them, from the first to the last: each
 * has slots, points back, and is after the one before. Empty pages, which
 * have no slots from 3.4 on, are passed over. *ret_tested is the number that
 * could be read. Errors: FAULT, CORRUPT or LIMIT if the list is implausible (it
 * is empty or has only empty pages, cannot be read to its end, or is longer
 * than an address space allows).
 */
struct rcore_error *rcore_heap_prove(struct rcore_ruby *ruby, uint64_t objspace,
				     size_t *ret_tested, size_t *ret_held);

/*
 * Gets one slot: its VALUE and a copy of its first bytes. These are all bytes,
 * or only the flags if nothing else is known (a pack). Return false to stop the
 * walk.
 */
typedef bool rcore_heap_visit(void *context, uint64_t value, const void *copy, size_t size);

/*
 * Visits each slot of type `type` in address order. Reads each page at once.
 * Skips pages that cannot be read, and counts them in *unreadable_pages (may be
 * NULL). Errors: FAULT, CORRUPT or LIMIT if the list of pages is implausible.
 */
struct rcore_error *rcore_heap_walk(struct rcore_ruby *ruby, uint64_t objspace,
				    enum rcore_type type, rcore_heap_visit *visit,
				    void *context, size_t *unreadable_pages);

/*
 * Gets one page: its heap_page, and a copy of all of its slots; NULL if they
 * cannot be read. Return false to stop the walk.
 */
typedef bool rcore_heap_visit_page(void *context, uint64_t heap_page,
				   const struct rcore_heap_page *page,
				   const unsigned char *slots);

/* Visits each page in address order. Errors: those of rcore_heap_walk(). */
struct rcore_error *rcore_heap_walk_pages(struct rcore_ruby *ruby, uint64_t objspace,
					  rcore_heap_visit_page *visit, void *context,
					  size_t *unreadable_pages);

/* Does the same for all types whose bits (1 << RCORE_T_...) are in `types`. */
struct rcore_error *rcore_heap_walk_types(struct rcore_ruby *ruby, uint64_t objspace,
					  uint32_t types, rcore_heap_visit *visit,
					  void *context, size_t *unreadable_pages);

#endif
