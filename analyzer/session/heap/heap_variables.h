/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_VARIABLES_H
#define RCORE_SESSION_HEAP_VARIABLES_H

#include "image/elf/modules.h"
#include "model/heap/heap.h"
#include "session/heap/heap_names.h"

/*
 * Static variables of C code that refer to objects: "cache of foo.so",
 * "table+16 of foo.so" for an element or a member, or "foo.so+0x4028" if no
 * symbol is known.
 */

/*
 * Names the roots that rb_gc_register_address() registered. Those that are in
 * no module stay without a name. Error: NO_MEMORY.
 */
struct rcore_error *rcore_heap_name_registered(struct rcore_modules *modules,
					       struct rcore_heap *heap);

/*
 * Finds the variables that contain a node's address and are not registered, so
 * that the collector does not mark what they refer to. Lists at most `limit` of
 * them (0: all), redacted, in namer->arena. Error: NO_MEMORY.
 */
struct rcore_error *rcore_heap_find_variables(struct rcore_heap_namer *namer, uint32_t node,
					      size_t limit, const char ***ret, size_t *count);

#endif
