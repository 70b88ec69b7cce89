/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_NAMES_H
#define RCORE_IMAGE_UNWIND_NAMES_H

#include "base/address_map.h"
#include "base/arena.h"
#include "model/native_frame.h"

/*
 * Copies the strings of frames out of what is kept of the code into the arena
 * of a snapshot, which outlives it: each once, told by its address, for they
 * are interned there.
 */
struct rcore_names {
	struct rcore_arena *arena;
	struct rcore_address_map at;
	struct {
		const char **items;
		size_t count, capacity;
	} copies;
};

/* An all-zero struct with `arena` set is ready. */
void rcore_names_deinit(struct rcore_names *names);

/* Replaces the strings of a frame by copies; false: memory is short. */
bool rcore_names_copy(struct rcore_names *names, struct rcore_native_frame *frame);

#endif
