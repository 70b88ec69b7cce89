/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_STORAGE_H
#define RCORE_VM_STORAGE_H

#include "model/snapshot.h"
#include "ruby/inspect/inspect.h"
#include "ruby/ruby.h"

enum { RCORE_VARIABLE_LIMIT = 1000 }; /* of one kind, for one fiber or thread */

/*
 * Reads the variables that Ruby keeps for fibers and threads by name:
 *
 *   Fiber[:x] (from 3.2 on)
 *   	ec->storage, a Hash, into fiber->storage
 *   Thread#[]
 *   	ec->local_storage, a rb_id_table, up to 2.7 a st_table of IDs, into
 *   	fiber->locals
 *   Thread#thread_variable_get
 *   	the Thread's hidden ivar "locals", a Hash, into thread->variables
 *
 * Mirrors rb_fiber_storage_aref() of cont.c, and rb_thread_local_aref() and
 * rb_thread_variable_get() of thread.c. Error: NO_MEMORY.
 */
struct rcore_error *rcore_vm_storage(struct rcore_ruby *ruby, struct rcore_snapshot *snapshot,
				     const struct rcore_inspect_options *options);

#endif
