/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_HEAP_SCAN_H
#define RCORE_RUBY_HEAP_SCAN_H

#include "ruby/heap/heap.h"
#include "target/live/live_scan.h"

/*
 * Gets some slots of a page, one after the other, and their bytes, which are
 * valid until it returns. It must not read the target. `thread` is 0 or 1: two
 * threads may call it at the same time. Returns false to end the scan, which
 * then fails.
 */
typedef bool rcore_heap_scan_visit(void *context, int thread,
				   const struct rcore_heap_page *part,
				   const unsigned char *slots);

/*
 * Visits the heap of a running process, up to Ruby 3.2: all slots, or if
 * `unprotected`, at least those of objects without write barriers, which are
 * few. Takes a third of the time of a walk, because two threads read many pages
 * in each system call. Each thread visits its parts in address order. Those of
 * thread 0 have the lower addresses. Returns false if anything is unusual, for
 * example if the process is changing the list of pages. The caller must then
 * drop what was visited, and call rcore_heap_walk().
 */
bool rcore_heap_scan(struct rcore_ruby *ruby, uint64_t objspace, bool unprotected,
		     rcore_heap_scan_visit *visit, void *context);

#endif
