/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_HEAP_CORE_SCAN_H
#define RCORE_RUBY_HEAP_CORE_SCAN_H

#include "ruby/heap/heap.h"

/*
 * Gets one page and its slots, which are valid until it returns. It must not
 * use the decoder. `thread` is 0 or 1: two threads may call it at the same
 * time. Returns false to end the scan, which then fails.
 */
typedef bool rcore_heap_core_visit(void *context, int thread,
				   const struct rcore_heap_page *page,
				   const unsigned char *slots);

/*
 * Visits all pages of a core's heap in two threads that read its file. Each
 * visits its pages in address order; those of thread 0 have the lower
 * addresses. Returns false if anything is unusual, for example if a page is
 * missing, or if the process was changing the list of pages. The caller must
 * then drop what was visited, and call rcore_heap_walk().
 */
bool rcore_heap_core_scan(struct rcore_ruby *ruby, uint64_t objspace,
			  rcore_heap_core_visit *visit, void *context);

#endif
