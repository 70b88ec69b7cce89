/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_SEGMENTS_H
#define RCORE_TARGET_SEGMENTS_H

#include "target/memory.h"

/*
 * An address space made of pieces: each has bytes, or the reason why there are
 * none. Add pieces in any order; they may overlap. rcore_segments_ready() turns
 * them into a sorted array without overlaps, so a read looks at the piece of
 * the last read, or does one binary search. Where pieces overlap, one with
 * bytes takes precedence over one without, and then the one added first.
 *
 * A piece without bytes and with the fault NONE is one that the caller reads
 * itself: a read skips it, and does not change that part of the buffer.
 */
struct rcore_piece {
	uint64_t start, end;
	const uint8_t *bytes; /* of `start`; NULL: see `fault` */
	enum rcore_fault fault;
	uint32_t rank; /* private: the lowest is used */
};

enum { RCORE_SEGMENTS_RECENT = 64 };

struct rcore_segments {
	struct rcore_piece *items;
	size_t count, capacity;
	/* Private: the places of recent reads. */
	uint32_t recent[RCORE_SEGMENTS_RECENT];
};

/*
 * All zeroes is empty. Ignores empty ranges, and truncates ranges that would
 * wrap around. Returns false if memory is short.
 */
bool rcore_segments_add(struct rcore_segments *segments, uint64_t start, uint64_t size,
			const uint8_t *bytes, enum rcore_fault fault);

/*
 * Call it after the last add and before the first read. Returns false if memory
 * is short.
 */
bool rcore_segments_ready(struct rcore_segments *segments);

/* Like rcore_memory.read. */
enum rcore_fault rcore_segments_read(struct rcore_segments *segments, uint64_t address,
				     void *buffer, size_t size);

/* Returns the piece that contains an address; NULL if there is none. */
const struct rcore_piece *rcore_segments_find(struct rcore_segments *segments,
					      uint64_t address);

/*
 * Returns the first address after `address` at which a piece begins or ends;
 * UINT64_MAX: none.
 */
uint64_t rcore_segments_edge(const struct rcore_segments *segments, uint64_t address);

void rcore_segments_deinit(struct rcore_segments *segments);

#endif
