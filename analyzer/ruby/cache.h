/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CACHE_H
#define RCORE_RUBY_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * Caches what decoders found, by address (or ID) and, if needed, a second key.
 * An all-zero cache is empty. Entries are never removed; they live in the arena
 * that is passed, and only uthash's own buckets are malloc'ed.
 */
struct rcore_cache {
	struct rcore_cache_entry *entries; /* private */
};

void rcore_cache_deinit(struct rcore_cache *cache);

/* Returns the value, or NULL if the keys are not in the cache. */
void *rcore_cache_get(const struct rcore_cache *cache, uint64_t key, uint64_t second);

/*
 * Adds an entry that is not in the cache yet. Returns false if memory is short.
 * Stores the pointer `value`, not a copy.
 */
bool rcore_cache_put(struct rcore_cache *cache, struct rcore_arena *arena, uint64_t key,
		     uint64_t second, void *value);

#endif
