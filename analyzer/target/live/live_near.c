/* SPDX-License-Identifier: MIT */
#include "target/live/live_near.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hot.h"

/*
 * process_vm_readv() takes more than a microsecond for each range, whose pages
 * it pins, and a tenth of that for each kilobyte.
 */
enum {
	NEAR = 2 << 10,   /* the largest gap */
	MOST = 256 << 10, /* of one read */
};

RCORE_HOT size_t rcore_live_run_of(const struct rcore_live_range *ranges, size_t count,
				   size_t most, struct rcore_live_range *ret)
{
	uint64_t start = ranges[0].start, end = start + ranges[0].size;
	size_t used = 1;
	while (used < count && ranges[used].start >= end && ranges[used].start - end < NEAR &&
	       ranges[used].start + ranges[used].size - start <= most) {
		end = ranges[used].start + ranges[used].size;
		used++;
	}
	*ret = (struct rcore_live_range){.start = start, .size = end - start};
	return used;
}

/*
 * Copies what was read of a run to the ranges that it covers. Returns whether
 * all of it was read.
 */
static RCORE_HOT bool share_out(const struct rcore_live_range *run,
				struct rcore_live_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = ranges[i].start - run->start;
		size_t left = run->read > offset ? run->read - offset : 0;
		ranges[i].read = left < ranges[i].size ? left : ranges[i].size;
		memcpy(ranges[i].bytes, run->bytes + offset, ranges[i].read);
	}
	return run->read == run->size;
}

struct runs {
	struct rcore_live_range *items;
	uint8_t *bytes;
	size_t count;
};

static bool make_runs(struct runs *runs, const struct rcore_live_range *ranges, size_t count)
{
	size_t size = 0;
	*runs = (struct runs){.items = rcore_calloc(count, sizeof(*runs->items))};
	for (size_t i = 0; runs->items && i < count;) {
		struct rcore_live_range *run = &runs->items[runs->count++];
		i += rcore_live_run_of(&ranges[i], count - i, MOST, run);
		size += run->size;
	}
	runs->bytes = runs->items ? malloc(size + 1) : NULL;
	for (size_t i = 0, at = 0; runs->bytes && i < runs->count; i++) {
		runs->items[i].bytes = runs->bytes + at;
		at += runs->items[i].size;
	}
	return runs->bytes;
}

RCORE_HOT void rcore_live_read_near(struct rcore_live *live, struct rcore_live_range *ranges,
				    size_t count)
{
	struct runs runs;
	bool has_room = make_runs(&runs, ranges, count);
	if (has_room)
		rcore_live_read(live, runs.items, runs.count);
	else
		rcore_live_read(live, ranges, count);
	for (size_t i = 0, run = 0; has_room && i < count; run++) {
		struct rcore_live_range run_again;
		size_t used = rcore_live_run_of(&ranges[i], count - i, MOST, &run_again);
		/* A page between two ranges may be missing. */
		if (!share_out(&runs.items[run], &ranges[i], used) && used > 1)
			rcore_live_read(live, &ranges[i], used);
		i += used;
	}
	free(runs.items);
	free(runs.bytes);
}
