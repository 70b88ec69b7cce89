/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_HEAP_PRIVATE_H
#define RCORE_RUBY_HEAP_PRIVATE_H

#include "ruby/object/heap.h"

/* Finds the array of heap_page pointers. */
struct rcore_error *rcore_heap_page_list(struct rcore_ruby *ruby, uint64_t objspace,
					 uint64_t *list, uint64_t *count);

/*
 * Checks the numbers of a heap_page: its slots fill one aligned body (except a
 * few words for malloc(), HEAP_PAGE_SIZE of gc.c).
 */
bool rcore_heap_page_fits(const struct rcore_ruby *ruby, const struct rcore_heap_page *page);

/*
 * Reads the heap_page at `address` and checks it, and that its body points
 * back.
 */
bool rcore_heap_page_read(struct rcore_ruby *ruby, uint64_t address,
			  struct rcore_heap_page *page);

#endif
