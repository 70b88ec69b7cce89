/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_HEAP_SCAN_H
#define RCORE_RUBY_HEAP_SCAN_H

#include "ruby/object/heap.h"
#include "target/live/live_scan.h"

/*
 * Gets the slots of one page, which are valid until it returns. It must not
 * read the target. `thread` is 0 or 1: two threads may call it at the same
 * time. Returns false to end the scan, which then fails.
 */
typedef bool rcore_heap_scan_visit(void *context, int thread,
				   const struct rcore_heap_page *page,
				   const unsigned char *slots);

/*
 * Visits all pages of the heap of a running process, up to Ruby 3.2. Takes a
 * third of the time of a walk, because two threads read many pages in each
 * system call. Each thread visits its pages in address order. Those of thread 0
 * have the lower addresses. Returns false if anything is unusual, for example
 * if the process is changing the list of pages. The caller must then drop what
 * was visited, and call rcore_heap_walk().
 */
bool rcore_heap_scan(struct rcore_ruby *ruby, uint64_t objspace, rcore_heap_scan_visit *visit,
		     void *context);

#endif
