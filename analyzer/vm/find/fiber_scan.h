/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FIBER_SCAN_H
#define RCORE_VM_FIBER_SCAN_H

#include "ruby/heap/heap.h"

/*
 * Visits the slots of a running process's heap that may be a Fiber, in address
 * order: those of the type in ruby->statics.fiber_type, or all of type T_DATA
 * if that is 0. Reads only objects without write barriers if an earlier search
 * showed that Fibers are among these, and there are earlier fibers or the
 * process is searched repeatedly (reads_now). `visit` gets the first bytes of a
 * slot, and returns false to end the visits. Returns false, without calling
 * `visit`, if the scan fails (see heap_scan.h). The caller must then call
 * rcore_heap_walk().
 */
bool rcore_fiber_scan(struct rcore_ruby *ruby, uint64_t objspace, rcore_heap_visit *visit,
		      void *context);

#endif
