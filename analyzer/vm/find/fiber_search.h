/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FIBER_SEARCH_H
#define RCORE_VM_FIBER_SEARCH_H

#include "base/error.h"
#include "model/snapshot.h"
#include "ruby/ruby.h"
#include "target/process.h"

/* A rb_fiber_t has a few hundred bytes, or 5.4 KiB on aarch64 with ucontext. */
enum { RCORE_FIBER_STRUCT_LIMIT = 8 << 10 };

/*
 * enum context_type of cont.c. A continuation of callcc is on the same list as
 * fibers and begins with the same struct, but is not a fiber.
 */
enum { RCORE_CONTINUATION_CONTEXT = 0, RCORE_FIBER_CONTEXT = 1 };

/*
 * Returns whether the rb_fiber_t of the Fiber `object` is at `address`. No
 * other struct points back to both the object and itself.
 */
bool rcore_is_fiber(struct rcore_memory *memory, const struct rcore_layout *layout,
		    uint64_t object, uint64_t address);

/*
 * Called with the address of each possible rb_fiber_t. The callee has to check
 * it. An error ends the search.
 */
typedef struct rcore_error *rcore_fiber_found(void *context, uint64_t address);

/*
 * Finds every fiber of the process. From 3.3 on, each rb_context_t is on one
 * global list (rb_jit_cont, cont.c), so any fiber leads to all others, oldest
 * first. Before 3.3, and if that list is broken, searches the heap for T_DATA
 * objects whose type is named "fiber". `known` is any fiber's address, or 0.
 * Skips objects that a running thread of `process` is just making; if `process`
 * is NULL, no thread is considered. Sets snapshot->fiber_source and adds
 * problems for what could not be read. Returns only errors of `found`.
 */
struct rcore_error *rcore_fiber_search(struct rcore_ruby *ruby,
				       const struct rcore_process *process, uint64_t vm,
				       uint64_t known, rcore_fiber_found *found, void *context,
				       struct rcore_snapshot *snapshot);

#endif
