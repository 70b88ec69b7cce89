/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_SEGMENT_INDEX_H
#define RCORE_TARGET_SEGMENT_INDEX_H

#include <stdbool.h>

#include "model/process.h"

/*
 * Finds the segments at an address with a binary search. The segments of a
 * hostile core may be empty, contain each other and overlap.
 */
struct rcore_segment_index {
	/* Private */
	const struct rcore_segment *segments;
	size_t count;
	/* The last end of each segment and those before it. */
	struct rcore_segment_ends {
		uint64_t whole, saved;
	} * ends;
};

enum rcore_segment_part {
	RCORE_SEGMENT_WHOLE,
	RCORE_SEGMENT_SAVED, /* only the bytes that the core has */
};

/*
 * The segments are sorted by start and must outlive `ret`. Returns false if
 * memory is short; call rcore_segment_index_deinit() in any case.
 */
bool rcore_segment_index_init(const struct rcore_segment *segments, size_t count,
			      struct rcore_segment_index *ret);
void rcore_segment_index_deinit(struct rcore_segment_index *index);

/*
 * Finds the range of all segments that contain `address`: from the first start
 * to the last end. Returns false if none contains it.
 */
bool rcore_segment_index_find(const struct rcore_segment_index *index,
			      enum rcore_segment_part part, uint64_t address,
			      uint64_t *ret_start, uint64_t *ret_end);

#endif
