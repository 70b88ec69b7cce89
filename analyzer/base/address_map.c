/* SPDX-License-Identifier: MIT */
#include "base/address_map.h"

#include "base/hot.h"

#include <stdlib.h>

/* If memory is short, HASH_ADD() runs uthash_nonfatal_oom() and goes on. */
#define HASH_NONFATAL_OOM          1
#define uthash_nonfatal_oom(entry) ((entry)->index = -1)
#include <uthash.h>

struct rcore_address_entry {
	uint64_t address;
	int index;
	UT_hash_handle hh;
};

void rcore_address_map_deinit(struct rcore_address_map *map)
{
	struct rcore_address_entry *entry, *next;
	HASH_ITER (hh, map->entries, entry, next) {
		HASH_DEL(map->entries, entry);
		free(entry);
	}
}

RCORE_HOT int rcore_address_map_get(const struct rcore_address_map *map, uint64_t address)
{
	struct rcore_address_entry *entry;
	HASH_FIND(hh, map->entries, &address, sizeof(address), entry);
	return entry ? entry->index : -1;
}

bool rcore_address_map_put(struct rcore_address_map *map, uint64_t address, int index)
{
	struct rcore_address_entry *entry = malloc(sizeof(*entry));
	if (!entry)
		return false;
	entry->address = address;
	entry->index = index;
	HASH_ADD(hh, map->entries, address, sizeof(entry->address), entry);
	if (entry->index < 0) {
		free(entry);
		return false;
	}
	return true;
}

bool rcore_address_map_put_first(struct rcore_address_map *map, uint64_t address, int index)
{
	return rcore_address_map_get(map, address) >= 0 ||
	       rcore_address_map_put(map, address, index);
}
