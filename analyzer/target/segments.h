/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_SEGMENTS_H
#define RCORE_TARGET_SEGMENTS_H

#include "target/memory.h"

/*
 * An address space made of pieces: each is bytes at hand, or the reason why
 * there are none. Pieces are added in any order and may overlap;
 * rcore_segments_ready() turns them into a sorted array without overlap, so
 * that a read is one look at the piece of the last read, or one binary search.
 * Where pieces overlap, one with bytes wins over one without, and then the one
 * added first.
 *
 * A piece without bytes whose fault is NONE is one that the caller reads
 * himself: a read passes over it, and leaves the buffer as it is.
 */
struct rcore_piece {
	uint64_t start, end;
	const uint8_t *bytes; /* of `start`; NULL: `fault` */
	enum rcore_fault fault;
	uint32_t rank; /* private: lower wins */
};

enum { RCORE_SEGMENTS_RECENT = 64 };

struct rcore_segments {
	struct rcore_piece *items;
	size_t count, capacity;
	/* Private: where reads were last answered. */
	uint32_t recent[RCORE_SEGMENTS_RECENT];
};

/*
 * An all-zero struct is empty. Empty ranges, and ranges that would wrap around,
 * are left out or cut at the top. false: memory is short.
 */
bool rcore_segments_add(struct rcore_segments *segments, uint64_t start, uint64_t size,
			const uint8_t *bytes, enum rcore_fault fault);

/* After the last add, before the first read. false: memory is short. */
bool rcore_segments_ready(struct rcore_segments *segments);

/* As rcore_memory.read. */
enum rcore_fault rcore_segments_read(struct rcore_segments *segments, uint64_t address,
				     void *buffer, size_t size);

void rcore_segments_deinit(struct rcore_segments *segments);

#endif
