/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FIBER_SEARCH_H
#define RCORE_VM_FIBER_SEARCH_H

#include "base/error.h"
#include "model/snapshot.h"
#include "ruby/ruby.h"

/* A rb_fiber_t is a few hundred bytes; on aarch64 with ucontext it is 5.4 KiB. */
enum { RCORE_FIBER_STRUCT_LIMIT = 8 << 10 };

/* Called with the address of what may be a rb_fiber_t (the callee proves it); an error ends the
 * search. */
typedef struct rcore_error *rcore_fiber_found(void *context, uint64_t address);

/*
 * Finds every fiber of the process. From 3.3 on each rb_context_t is on one global list
 * (rb_jit_cont, cont.c), so any fiber leads to all of them, oldest first. Before, and where that
 * list is broken, the fibers are the T_DATA objects of the heap whose type is named "fiber".
 * `known` is any fiber's address (0: none). Sets snapshot->fiber_source, and notes in it what
 * could not be read. An error only of `found`.
 */
struct rcore_error *rcore_fiber_search(struct rcore_ruby *ruby, uint64_t vm, uint64_t known,
				       rcore_fiber_found *found, void *context,
				       struct rcore_snapshot *snapshot);

#endif
