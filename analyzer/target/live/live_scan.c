/* SPDX-License-Identifier: MIT */
#include "target/live/live_scan.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/page_buffer.h"
#include "target/live/live_private.h"
#include "target/live/pages/live_halves.h"

_Static_assert((int)RCORE_LIVE_SCAN_MOST <= (int)RCORE_LIVE_PAGES_ROOM, "rooms are too small");

struct scan {
	struct rcore_live_range *ranges;
	rcore_live_scan_visit *visit;
	void *context;
	/* A buffer for each half; NULL: the half allocates its own. */
	uint8_t *const *rooms;
	atomic_bool has_failed;
};

/*
 * Makes as many ranges as fit point into `room`. Returns how many.
 */
static size_t place(struct rcore_live_range *ranges, size_t count, uint8_t *room)
{
	size_t size = 0, i = 0;
	for (; i < count && ranges[i].size <= RCORE_LIVE_SCAN_MOST - size; i++) {
		ranges[i].bytes = room + size;
		size += ranges[i].size;
	}
	return i;
}

static bool are_read(const struct rcore_live_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ranges[i].read != ranges[i].size)
			return false;
	return true;
}

/* Reads little at a time: it must still be in the cache when visited. */
static void scan_half(void *context, struct rcore_live_memory *memory, size_t from, size_t to)
{
	struct scan *scan = context;
	const size_t late = memory->late_count;
	uint8_t *room = scan->rooms[from > 0], *own = NULL;
	if (!room)
		room = own = rcore_page_buffer(RCORE_LIVE_SCAN_MOST);
	scan->has_failed |= !room;
	for (size_t i = from, count; i < to && !scan->has_failed; i += count) {
		struct rcore_live_range *ranges = &scan->ranges[i];
		count = place(ranges, to - i, room);
		rcore_live_read_batch(memory, ranges, count);
		if (!count || !are_read(ranges, count) || memory->late_count > late) {
			scan->has_failed = true;
			break;
		}
		for (size_t k = 0; k < count && !scan->has_failed; k++)
			if (!scan->visit(scan->context, from > 0, i + k, ranges[k].bytes))
				scan->has_failed = true;
	}
	free(own);
}

bool rcore_live_scan(struct rcore_live *live, struct rcore_live_range *ranges, size_t count,
		     rcore_live_scan_visit *visit, void *context)
{
	struct scan scan = {.ranges = ranges,
			    .visit = visit,
			    .context = context,
			    .rooms = live->pages.rooms};
	if (live->pages.copy || live->pages.is_frozen)
		return false;
	rcore_live_in_halves(&live->memory, ranges, count, scan_half, &scan);
	return !scan.has_failed;
}
