/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_ADDRESS_MAP_H
#define RCORE_BASE_ADDRESS_MAP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Maps addresses of the target to indices. It uses uthash, which is header-only
 * and, with HASH_NONFATAL_OOM, does not end the process if memory is short.
 */
struct rcore_address_map {
	/* Private; all-zero is an empty map. */
	struct rcore_address_entry *entries;
};

void rcore_address_map_deinit(struct rcore_address_map *map);

/* Returns the index of an address, or -1 if it is not in the map. */
int rcore_address_map_get(const struct rcore_address_map *map, uint64_t address);

/*
 * Adds an address that is not in the map yet. Returns false if memory is short.
 */
bool rcore_address_map_put(struct rcore_address_map *map, uint64_t address, int index);

/*
 * Adds an address unless it is in the map: of several indices, the first one
 * counts. Returns false if memory is short.
 */
bool rcore_address_map_put_first(struct rcore_address_map *map, uint64_t address, int index);

#endif
