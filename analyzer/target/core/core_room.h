/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_ROOM_H
#define RCORE_TARGET_CORE_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Limits how many bytes the segments of a core have together. In a core, each
 * byte of the file is in one segment, except what a tool has merged because it
 * is equal. Many more segments with the same bytes would let a small file
 * appear as any amount of memory, which commands read and packs contain.
 *
 * Only a pack has segments that share bytes: long zeroes, which are at the
 * beginning of its memory (target/pack/pack_plan.h). They need no room.
 */
struct rcore_core_room {
	uint64_t pages;  /* the offset of the first segment's bytes */
	uint64_t zeroes; /* how many zeroes are there; 0: it is no pack */
	uint64_t left;
	size_t refused_count; /* segments */
};

enum { RCORE_CORE_TIMES = 16 }; /* the room is so many times the file's size */

/* `bytes` are those of the file. */
void rcore_core_room_init(struct rcore_core_room *room, const uint8_t *bytes, uint64_t size,
			  uint64_t pages, bool is_pack);

/* Returns false if a segment has more bytes than there is room for. */
bool rcore_core_room_take(struct rcore_core_room *room, uint64_t offset, uint64_t size);

/* Whether a part of the file is in the shared zeroes. */
bool rcore_core_room_is_zero(const struct rcore_core_room *room, uint64_t offset,
			     uint64_t size);

#endif
