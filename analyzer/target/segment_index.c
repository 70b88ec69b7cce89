/* SPDX-License-Identifier: MIT */
#include "target/segment_index.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

bool rcore_segment_index_init(const struct rcore_segment *segments, size_t count,
			      struct rcore_segment_index *ret)
{
	struct rcore_segment_ends last = {0};
	*ret = (struct rcore_segment_index){
		.segments = segments,
		.count = count,
		.ends = rcore_calloc(count, sizeof(*ret->ends)),
	};
	for (size_t i = 0; i < count && ret->ends; i++) {
		const struct rcore_segment *segment = &segments[i];
		last.whole = later(last.whole, segment->start + segment->size);
		last.saved = later(last.saved, segment->start + segment->saved);
		ret->ends[i] = last;
	}
	return ret->ends;
}

void rcore_segment_index_deinit(struct rcore_segment_index *index)
{
	free(index->ends);
}

static uint64_t end_of(const struct rcore_segment_index *index, enum rcore_segment_part part,
		       size_t i)
{
	return part == RCORE_SEGMENT_SAVED ? index->ends[i].saved : index->ends[i].whole;
}

bool rcore_segment_index_find(const struct rcore_segment_index *index,
			      enum rcore_segment_part part, uint64_t address,
			      uint64_t *ret_start, uint64_t *ret_end)
{
	size_t after = RCORE_PARTITION_POINT(index->count, middle,
					     index->segments[middle].start <= address);
	/* The end grows here, so this segment is the one that ends there. */
	size_t first =
		RCORE_PARTITION_POINT(after, middle, end_of(index, part, middle) <= address);
	if (first == after)
		return false;
	*ret_start = index->segments[first].start;
	*ret_end = end_of(index, part, after - 1);
	return true;
}
