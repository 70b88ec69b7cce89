/* SPDX-License-Identifier: MIT */
#include "target/live/live_scan.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/page_buffer.h"
#include "target/live/live_near.h"
#include "target/live/live_private.h"
#include "target/live/pages/live_halves.h"

_Static_assert((int)RCORE_LIVE_SCAN_MOST <= (int)RCORE_LIVE_PAGES_ROOM, "rooms are too small");

enum { RUNS = 512 };

struct scan {
	struct rcore_live_range *ranges;
	rcore_live_scan_visit *visit;
	void *context;
	/* A buffer for each half; NULL: the half allocates its own. */
	uint8_t *const *rooms;
	atomic_bool has_failed;
};

/* The runs that are read with one call, and how many ranges they cover. */
struct runs {
	struct rcore_live_range items[RUNS];
	size_t count, covered;
};

/*
 * Makes as many runs as fit, and points them and their ranges into `room`.
 */
static void place(struct rcore_live_range *ranges, size_t count, uint8_t *room,
		  struct runs *ret)
{
	size_t size = 0, i = 0;
	ret->count = 0;
	while (i < count && ret->count < RUNS &&
	       ranges[i].size <= RCORE_LIVE_SCAN_MOST - size) {
		struct rcore_live_range *run = &ret->items[ret->count++];
		size_t used = rcore_live_run_of(&ranges[i], count - i,
						RCORE_LIVE_SCAN_MOST - size, run);
		run->bytes = room + size;
		for (size_t end = i + used; i < end; i++)
			ranges[i].bytes = run->bytes + (ranges[i].start - run->start);
		size += run->size;
	}
	ret->covered = i;
}

static bool are_read(const struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i].read != runs->items[i].size)
			return false;
	return true;
}

/* Reads little at a time: it must still be in the cache when visited. */
static void scan_half(void *context, struct rcore_live_memory *memory, size_t from, size_t to)
{
	struct scan *scan = context;
	const size_t late = memory->late_count;
	uint8_t *room = scan->rooms[from > 0], *own = NULL;
	struct runs runs;
	if (!room)
		room = own = rcore_page_buffer(RCORE_LIVE_SCAN_MOST);
	scan->has_failed |= !room;
	for (size_t i = from; i < to && !scan->has_failed; i += runs.covered) {
		place(&scan->ranges[i], to - i, room, &runs);
		rcore_live_read_batch(memory, runs.items, runs.count);
		if (!runs.count || !are_read(&runs) || memory->late_count > late) {
			scan->has_failed = true;
			break;
		}
		for (size_t k = i; k < i + runs.covered && !scan->has_failed; k++)
			if (!scan->visit(scan->context, from > 0, k, scan->ranges[k].bytes))
				scan->has_failed = true;
	}
	free(own);
}

bool rcore_live_scan(struct rcore_live *live, bool reads_now, struct rcore_live_range *ranges,
		     size_t count, rcore_live_scan_visit *visit, void *context)
{
	struct scan scan = {.ranges = ranges,
			    .visit = visit,
			    .context = context,
			    .rooms = live->pages.rooms};
	if (!reads_now && (live->pages.copy || live->pages.is_frozen))
		return false;
	rcore_live_in_halves(&live->memory, ranges, count, scan_half, &scan);
	return !scan.has_failed;
}
