/* SPDX-License-Identifier: MIT */
#include "target/core/core_room.h"

#include "target/copy_range.h"
#include "target/pack/pack_plan.h"
#include "target/pack/recorder.h"

static uint64_t count_zeroes(const uint8_t *bytes, uint64_t size)
{
	uint64_t count = 0;
	while (count < RCORE_PACK_SHARED && size - count >= RCORE_RECORDER_BLOCK &&
	       rcore_is_zero(bytes + count, RCORE_RECORDER_BLOCK))
		count += RCORE_RECORDER_BLOCK;
	return count;
}

void rcore_core_room_init(struct rcore_core_room *room, const uint8_t *bytes, uint64_t size,
			  uint64_t pages, uint64_t shared)
{
	*room = (struct rcore_core_room){
		.pages = pages,
		.zeroes = count_zeroes(bytes + pages,
				       shared < size - pages ? shared : size - pages),
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
