/* SPDX-License-Identifier: MIT */
#include "session/heap/c_roots.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"
#include "target/process.h"
#include "target/segment_index.h"

bool rcore_c_ranges_add(struct rcore_c_ranges *ranges, uint64_t start, uint64_t end)
{
	struct rcore_malloc_range *range = rcore_push(ranges);
	if (range)
		*range = (struct rcore_malloc_range){start, end};
	return range != NULL;
}

static void sort(struct rcore_c_ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), rcore_ascending);
}

void rcore_c_ranges_join(struct rcore_c_ranges *ranges)
{
	size_t kept = 0;
	sort(ranges);
	for (size_t i = 0; i < ranges->count; i++) {
		const struct rcore_malloc_range *range = &ranges->items[i];
		struct rcore_malloc_range *last = kept ? &ranges->items[kept - 1] : NULL;
		if (!last || range->start > last->end)
			ranges->items[kept++] = *range;
		else if (range->end > last->end)
			last->end = range->end;
	}
	ranges->count = kept;
}

/* Ends each range where the next one starts. */
static void cut(struct rcore_c_ranges *ranges)
{
	size_t kept = 0;
	sort(ranges);
	for (size_t i = 0; i < ranges->count; i++) {
		struct rcore_malloc_range range = ranges->items[i];
		uint64_t next = i + 1 < ranges->count ? ranges->items[i + 1].start : range.end;
		/* What starts within a word is read from the next word on. */
		next = (next + 7) & ~UINT64_C(7);
		if (next < range.end)
			range.end = next;
		if (range.start < range.end)
			ranges->items[kept++] = range;
	}
	ranges->count = kept;
}

bool rcore_c_stacks(const struct rcore_process *process, struct rcore_c_ranges *ret)
{
	struct rcore_segment_index index;
	bool ok = rcore_segment_index_init(process->segments, process->segment_count, &index);
	for (size_t i = 0; i < process->thread_count && ok; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		uint64_t start, end,
			sp = thread->registers[rcore_register_sp(process->machine)];
		if (thread->has_registers &&
		    rcore_segment_index_find(&index, RCORE_SEGMENT_SAVED, sp, &start, &end))
			ok = rcore_c_ranges_add(ret, sp, end);
	}
	rcore_segment_index_deinit(&index);
	cut(ret);
	return ok;
}

bool rcore_c_mappings(const struct rcore_process *process, const struct rcore_c_ranges *known,
		      struct rcore_c_ranges *ret)
{
	uint64_t done = 0;
	bool ok = true;
	for (size_t i = 0; i < process->segment_count && ok; i++) {
		const struct rcore_segment *segment = &process->segments[i];
		uint64_t start = segment->start, end = start + segment->saved;
		if (!segment->writable)
			continue;
		start = start > done ? start : done;
		done = end > done ? end & ~UINT64_C(7) : done;
		size_t first = RCORE_PARTITION_POINT(known->count, middle,
						     known->items[middle].end <= start);
		for (size_t k = first; k < known->count && start < end && ok; k++) {
			const struct rcore_malloc_range *range = &known->items[k];
			if (range->start >= end)
				break;
			if (range->start > start)
				ok = rcore_c_ranges_add(ret, start, range->start);
			start = range->end;
		}
		if (start < end && ok)
			ok = rcore_c_ranges_add(ret, start, end);
	}
	return ok;
}
