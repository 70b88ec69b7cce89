/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_COLLECTED_H
#define RCORE_VM_COLLECTED_H

#include "vm/loader.h"

/*
 * Removes fibers that the garbage collector has found to be garbage. From the
 * end of marking until their slots are swept, they are still in the heap and on
 * the VM's list, but what they refer to may be freed already: their Thread, the
 * code of their frames, their environments. Ruby itself can no longer reach
 * them (ObjectSpace finishes the sweep before it lists anything).
 *
 * A marked fiber keeps all of that alive (cont_mark() and fiber_mark() of
 * cont.c, rb_execution_context_mark() of vm.c). So a fiber is garbage if the
 * collector is sweeping, no thread holds the fiber, and something that the
 * fiber marks is gone. But if the heap shows that a fiber is alive
 * (rcore_heap_is_alive()), it stays, and what it has lost is reported.
 *
 * From 3.3 on, a VM that ends aborts the sweep. Garbage then stays, and can
 * only be recognized by what it has lost.
 *
 * `loader` has all its fibers, with their frames but without owners.
 * `was_incomplete` is snapshot->incomplete as it was before they were loaded.
 * Error: NO_MEMORY.
 */
struct rcore_error *rcore_drop_collected(struct rcore_loader *loader, bool was_incomplete);

/*
 * Whether Ruby has run its finalizers, or is about to: rb_ec_cleanup() of
 * eval.c marks the main thread before.
 */
bool rcore_vm_is_ending(const struct rcore_thread *threads, size_t count);

#endif
