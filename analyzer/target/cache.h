/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CACHE_H
#define RCORE_TARGET_CACHE_H

#include "target/memory.h"

/*
 * Caches blocks of a memory that is slow to read, such as a debugger's. Code
 * that lets the target run, or writes to it, must drop the cache before the
 * next read.
 */
struct rcore_cache;

/* All zeroes: the defaults. */
struct rcore_cache_options {
	/*
	 * How many bytes to read at a time: a power of two, at least 4096 (the
	 * default).
	 */
	size_t block_size;
	/*
	 * The most bytes to keep; default 16 MiB. The oldest blocks are dropped
	 * first.
	 */
	size_t max_bytes;
};

/*
 * `below` must outlive the cache. Errors: USAGE (block_size), NO_MEMORY.
 * `options` may be NULL.
 */
struct rcore_error *rcore_cache_open(struct rcore_memory *below,
				     const struct rcore_cache_options *options,
				     struct rcore_cache **ret);
void rcore_cache_close(struct rcore_cache *cache); /* NULL-safe */

/* Belongs to the cache. It returns the same bytes and faults as `below`. */
struct rcore_memory *rcore_cache_memory(struct rcore_cache *cache);

/* Forgets all blocks. */
void rcore_cache_drop(struct rcore_cache *cache);

#endif
