/* SPDX-License-Identifier: MIT */
#include "ruby/cache.h"

#include "base/hot.h"

#include <string.h>

/*
 * Keys are addresses. Two multiplications distribute them as well as uthash's
 * own hash of bytes, in a third of the time.
 */
static inline unsigned hash_keys(const void *keys)
{
	uint64_t key[2];
	memcpy(key, keys, sizeof(key));
	uint64_t mixed = (key[0] ^ (key[1] << 1)) * UINT64_C(0x9e3779b97f4a7c15);
	mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return (unsigned)(mixed >> 32);
}

#define HASH_FUNCTION(keys, size, hash) ((hash) = hash_keys(keys))
#define HASH_NONFATAL_OOM               1
#define uthash_nonfatal_oom(entry)      ((entry)->value = NULL)
#include <uthash.h>

struct rcore_cache_entry {
	uint64_t keys[2];
	void *value;
	UT_hash_handle hh;
};

void rcore_cache_deinit(struct rcore_cache *cache)
{
	HASH_CLEAR(hh, cache->entries);
}

RCORE_HOT void *rcore_cache_get(const struct rcore_cache *cache, uint64_t key, uint64_t second)
{
	uint64_t keys[2] = {key, second};
	struct rcore_cache_entry *entry;
	HASH_FIND(hh, cache->entries, keys, sizeof(keys), entry);
	return entry ? entry->value : NULL;
}

bool rcore_cache_put(struct rcore_cache *cache, struct rcore_arena *arena, uint64_t key,
		     uint64_t second, void *value)
{
	struct rcore_cache_entry *entry = rcore_arena_alloc(arena, sizeof(*entry));
	if (!entry)
		return false;
	entry->keys[0] = key;
	entry->keys[1] = second;
	entry->value = value;
	HASH_ADD(hh, cache->entries, keys, sizeof(entry->keys), entry);
	return entry->value != NULL;
}
