/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_NAMES_H
#define RCORE_IMAGE_UNWIND_NAMES_H

#include "base/address_map.h"
#include "base/arena.h"
#include "model/native_frame.h"

/*
 * Copies the strings of frames into the arena of a snapshot, because the
 * snapshot outlives the cache of the code. Copies each string once, by its
 * address, because the cache has each string once.
 */
struct rcore_names {
	struct rcore_arena *arena;
	struct rcore_address_map at;
	struct {
		const char **items;
		size_t count, capacity;
	} copies;
};

/* To initialize it, zero the struct and set `arena`. */
void rcore_names_deinit(struct rcore_names *names);

/*
 * Replaces the strings of a frame by copies. Returns false if memory is short.
 */
bool rcore_names_copy(struct rcore_names *names, struct rcore_native_frame *frame);

#endif
