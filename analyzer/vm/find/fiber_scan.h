/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FIBER_SCAN_H
#define RCORE_VM_FIBER_SCAN_H

#include "ruby/object/heap.h"

/*
 * Visits the slots of a running process's heap that may be a Fiber, in address
 * order: those of the type in ruby->statics.fiber_type, or all of type T_DATA
 * if that is 0. `visit` gets the first bytes of a slot; it is the last one if
 * it returns false. Returns false if only rcore_heap_walk() can tell what there
 * is (see heap_scan.h); `visit` was not called then.
 */
bool rcore_fiber_scan(struct rcore_ruby *ruby, uint64_t objspace, rcore_heap_visit *visit,
		      void *context);

#endif
