/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_ROOM_H
#define RCORE_TARGET_CORE_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Limits how many bytes the segments of a core have together. In a core that
 * the kernel or gdb wrote, each byte of the file is in one segment. If many
 * segments had the same bytes, a small file could claim any amount of memory,
 * which commands would read and packs would keep. Segments get room in the
 * order of their program headers.
 *
 * Only a pack has segments that share bytes: long zeroes, which are at the
 * beginning of its memory (target/pack/pack_plan.h). They need no room.
 */
struct rcore_core_room {
	uint64_t pages;  /* the offset of the first segment's bytes */
	uint64_t zeroes; /* how many bytes from there on are zeroes to share */
	uint64_t left;
	size_t refused_count; /* segments */
};

enum { RCORE_CORE_TIMES = 16 }; /* the room is so many times the file's size */

/*
 * `bytes` are those of the file. Of its memory, which begins at offset `pages`,
 * segments may share the first `shared` bytes, as far as these are zeroes; 0 if
 * it is no pack.
 */
void rcore_core_room_init(struct rcore_core_room *room, const uint8_t *bytes, uint64_t size,
			  uint64_t pages, uint64_t shared);

/* Returns false if a segment has more bytes than there is room for. */
bool rcore_core_room_take(struct rcore_core_room *room, uint64_t offset, uint64_t size);

/* Whether a part of the file is in the shared zeroes. */
bool rcore_core_room_is_zero(const struct rcore_core_room *room, uint64_t offset,
			     uint64_t size);

#endif
