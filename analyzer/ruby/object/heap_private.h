/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_HEAP_PRIVATE_H
#define RCORE_RUBY_HEAP_PRIVATE_H

#include "ruby/object/heap.h"

/* Finds the array of heap_page pointers. */
struct rcore_error *rcore_heap_page_list(struct rcore_ruby *ruby, uint64_t objspace,
					 uint64_t *list, uint64_t *count);

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

#endif
