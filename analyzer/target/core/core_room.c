/* SPDX-License-Identifier: MIT */
#include "target/core/core_room.h"

#include "target/copy_range.h"

static uint64_t count_zeroes(const uint8_t *bytes, uint64_t size)
{
	enum { BLOCK = 4096, MOST = 1 << 20 }; /* as in pack_plan.c */
	uint64_t count = 0;
	while (count < MOST && size - count >= BLOCK && rcore_is_zero(bytes + count, BLOCK))
		count += BLOCK;
	return count;
}

void rcore_core_room_init(struct rcore_core_room *room, const uint8_t *bytes, uint64_t size,
			  uint64_t pages, bool is_pack)
{
	*room = (struct rcore_core_room){
		.pages = pages,
		.zeroes = is_pack ? count_zeroes(bytes + pages, size - pages) : 0,
	};
	if (__builtin_mul_overflow(size, RCORE_CORE_TIMES, &room->left))
		room->left = UINT64_MAX;
}

bool rcore_core_room_is_zero(const struct rcore_core_room *room, uint64_t offset, uint64_t size)
{
	uint64_t at = offset - room->pages;
	return at < room->zeroes && size <= room->zeroes - at;
}

bool rcore_core_room_take(struct rcore_core_room *room, uint64_t offset, uint64_t size)
{
	if (rcore_core_room_is_zero(room, offset, size))
		return true;
	if (size > room->left) {
		room->refused_count++;
		return false;
	}
	room->left -= size;
	return true;
}
