/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CACHE_H
#define RCORE_RUBY_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * What decoders keep of what they found, by address (or ID) and, where one is
 * not enough, a second key. An all-zero cache is empty. Entries are never taken
 * out one by one; they live in the arena given, only uthash's own buckets are
 * malloc'ed.
 */
struct rcore_cache {
	struct rcore_cache_entry *entries; /* private */
};

void rcore_cache_deinit(struct rcore_cache *cache);

/* NULL: not there. */
void *rcore_cache_get(const struct rcore_cache *cache, uint64_t key, uint64_t second);

/*
 * Adds what is not there yet; false: memory is short. `value` is kept as it is.
 */
bool rcore_cache_put(struct rcore_cache *cache, struct rcore_arena *arena, uint64_t key,
		     uint64_t second, void *value);

#endif
