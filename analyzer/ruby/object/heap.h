/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_HEAP_H
#define RCORE_RUBY_HEAP_H

#include "ruby/object/value.h"

/*
 * The GC heap: objspace.heap_pages.sorted is an array (3.4 on: a rb_darray) of
 * heap_page pointers; each page has total_slots slots of slot_size bytes from
 * `start` on, in an aligned body whose first word points back to the heap_page
 * (the proof of a page). Mirrors gc.c (3.4 on: gc/default/default.c).
 */

/* A page's slots. */
struct rcore_heap_page {
	uint64_t start;
	size_t slot_size, slots;
};

/* The page in whose body `address` lies; false: none. */
bool rcore_heap_page_at(struct rcore_ruby *ruby, uint64_t address, struct rcore_heap_page *ret);

/*
 * The slot that `address` lies in, and its type; false: it is in no page of the
 * heap.
 */
bool rcore_heap_slot(struct rcore_ruby *ruby, uint64_t address, uint64_t *ret_value,
		     enum rcore_type *ret_type);

/* Whether the collector is freeing what it found to be garbage. */
bool rcore_heap_is_sweeping(struct rcore_ruby *ruby, uint64_t objspace);

/*
 * Whether the collector has found this object to be garbage, and not yet freed
 * it: its page is to be swept, and it has no mark. What it refers to may be
 * freed already. Mirrors is_garbage_object() of gc.c (garbage_object_p() of
 * gc/default/default.c); false also if the layout does not know.
 */
bool rcore_heap_is_garbage(struct rcore_ruby *ruby, uint64_t value);

/*
 * The same also of an object of the page that is being swept, if the collector
 * is at work: gc_sweep_page() clears before_sweep first. Young objects of pages
 * that were swept before have no mark either.
 */
bool rcore_heap_may_be_garbage(struct rcore_ruby *ruby, uint64_t value, bool is_collecting);

/*
 * Proves the list of pages on a few of them, the first and the last too: each
 * has slots, points back, and lies behind the one before. *ret_tested: those
 * that could be read. FAULT, CORRUPT, LIMIT: the list makes no sense (it is
 * empty, cannot be read up to its end, or is longer than an address space
 * allows).
 */
struct rcore_error *rcore_heap_prove(struct rcore_ruby *ruby, uint64_t objspace,
				     size_t *ret_tested, size_t *ret_held);

/*
 * One slot: its VALUE and a copy of its first bytes: all of them, or its flags
 * where nothing else is known (a pack). Return false to stop the walk.
 */
typedef bool rcore_heap_visit(void *context, uint64_t value, const void *copy, size_t size);

/*
 * Visits each slot whose type is `type` in address order. Each page is read at
 * once. Pages that cannot be read are counted in *unreadable_pages (may be
 * NULL) and skipped. FAULT, CORRUPT, LIMIT where the page list itself makes no
 * sense.
 */
struct rcore_error *rcore_heap_walk(struct rcore_ruby *ruby, uint64_t objspace,
				    enum rcore_type type, rcore_heap_visit *visit,
				    void *context, size_t *unreadable_pages);

/* The same of all types whose bits (1 << RCORE_T_...) are in `types`. */
struct rcore_error *rcore_heap_walk_types(struct rcore_ruby *ruby, uint64_t objspace,
					  uint32_t types, rcore_heap_visit *visit,
					  void *context, size_t *unreadable_pages);

#endif
