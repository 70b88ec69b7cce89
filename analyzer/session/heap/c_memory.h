/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_C_MEMORY_H
#define RCORE_SESSION_C_MEMORY_H

#include "malloc/malloc.h"
#include "model/heap/c_memory.h"
#include "rcore.h"

/*
 * Finds the owners of the chunks that `heap` has in use (see malloc/owners.h),
 * and lists the `limit` largest owners of each kind. Owners are searched in
 * this order: the slots of objects and the static data of modules; then, for
 * what is left, machine stacks and other memory. The caller frees *ret. Errors:
 * those of rcore_session_graph().
 */
struct rcore_error *rcore_c_memory(struct rcore_session *session,
				   const struct rcore_malloc *heap, size_t limit,
				   struct rcore_c_memory **ret);
void rcore_c_memory_free(struct rcore_c_memory *memory); /* NULL-safe */

#endif
