/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_COLLECTED_H
#define RCORE_VM_COLLECTED_H

#include "vm/loader.h"

/*
 * Fibers that the collector has found to be garbage. From the end of marking until their own slots are swept, they are still
 * in the heap and on the VM's list, while what they refer to may be freed already: their Thread, the
 * code of their frames, their environments. Ruby itself cannot reach them any more (ObjectSpace finishes the sweep
 * before it shows anything).
 *
 * A fiber keeps all of that alive as long as it is marked itself (cont_mark and fiber_mark of cont.c,
 * rb_execution_context_mark of vm.c). So, if the collector is sweeping, no thread holds the fiber, and it
 * has lost something that it marks, it is garbage.
 *
 * Removes them. The fibers of `loader` are all found and have their frames, but no owners yet; was_incomplete: the
 * snapshot's, before that. Errors: NO_MEMORY.
 */
struct rcore_error *rcore_drop_collected(struct rcore_loader *loader, bool was_incomplete);

#endif
