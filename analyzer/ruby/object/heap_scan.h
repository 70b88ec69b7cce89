/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_HEAP_SCAN_H
#define RCORE_RUBY_HEAP_SCAN_H

#include "ruby/object/heap.h"
#include "target/live/live_scan.h"

/*
 * Gets the slots of one page, which are gone after it returns. It may read
 * nothing of the target. `thread` is 0 or 1: two threads may call it at the
 * same time. Returns false to end the scan, which then fails.
 */
typedef bool rcore_heap_scan_visit(void *context, int thread,
				   const struct rcore_heap_page *page,
				   const unsigned char *slots);

/*
 * Visits all pages of the heap of a running process, up to Ruby 3.2. Takes a
 * third of the time of a walk, because two threads read many pages in each
 * system call. Each visits its pages in address order; those of thread 0 come
 * first. Returns false if anything is not as it normally is, such as a list of
 * pages that is just being changed: only rcore_heap_walk() can then tell what
 * the heap has, and what was visited must be dropped.
 */
bool rcore_heap_scan(struct rcore_ruby *ruby, uint64_t objspace, rcore_heap_scan_visit *visit,
		     void *context);

#endif
