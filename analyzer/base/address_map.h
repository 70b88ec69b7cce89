/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_ADDRESS_MAP_H
#define RCORE_BASE_ADDRESS_MAP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Addresses of the target to indices of ours. uthash does the work:
 * header-only, and with HASH_NONFATAL_OOM it does not end the process when
 * memory is short.
 */
struct rcore_address_map {
	/* Private; all-zero is an empty map. */
	struct rcore_address_entry *entries;
};

void rcore_address_map_deinit(struct rcore_address_map *map);

/* -1: not there. */
int rcore_address_map_get(const struct rcore_address_map *map, uint64_t address);

/* Adds an address that is not there yet; false: memory is short. */
bool rcore_address_map_put(struct rcore_address_map *map, uint64_t address, int index);

#endif
