/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_MALLOC_H
#define RCORE_SESSION_MALLOC_H

#include "malloc/malloc.h"
#include "session/open.h"

/*
 * Lists what the core has of memory. Free ret->items. Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_parts(const struct rcore_target *target,
					struct rcore_malloc_parts *ret);

/*
 * Finds out which allocator the program uses, and its chunks if it is glibc's
 * or jemalloc. If it is another one, or parts of its memory are missing,
 * ret->problem says so. Free `ret` with rcore_malloc_deinit(). Error:
 * NO_MEMORY.
 */
struct rcore_error *rcore_session_malloc(const struct rcore_target *target,
					 struct rcore_malloc *ret);

/*
 * Finds out how to determine the sizes of chunks. Reads all chunks only if this
 * requires it. Free `ret` with rcore_malloc_deinit(&ret->heap). Error:
 * NO_MEMORY.
 */
struct rcore_error *rcore_session_chunk_sizes(const struct rcore_target *target,
					      struct rcore_chunk_sizes *ret);

#endif
