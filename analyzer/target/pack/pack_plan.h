/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_PACK_PLAN_H
#define RCORE_TARGET_PACK_PLAN_H

#include <elf.h>

#include "base/error.h"
#include "target/pack/pack_known.h"
#include "target/pack/recorder.h"
#include "target/process.h"

/*
 * Plans where a pack has its memory in the file: pages and ranges of the
 * recorder, in the order of addresses. Ranges begin at whole blocks of the
 * file, so that blocks of zeroes in them become holes. Long zeroes all share
 * the same zeroes, at the beginning: a program may have reserved more memory
 * than a file system can store, and holes do not survive most ways of copying.
 */

enum { RCORE_PACK_SHARED = 1 << 20 }; /* zeroes that are shared, at most */

struct rcore_pack_piece {
	uint64_t start, end;
	uint64_t offset; /* in the file, from its first byte of memory on */
	/* NULL: all bytes of a range. */
	const struct rcore_recorded_page *page;
	bool is_zero;   /* a hole */
	bool is_shared; /* at the beginning of the file; `offset` is not set */
};

struct rcore_pack_plan { /* all zeroes is empty */
	struct {
		struct rcore_pack_piece *items;
		size_t count, capacity;
	} pieces; /* by start */
	/*
	 * The PT_LOADs; their p_offset is relative to the first byte of memory.
	 */
	struct {
		Elf64_Phdr *items;
		size_t count, capacity;
	} headers;
	struct rcore_known_writer known;
	uint64_t zeroes; /* how many bytes at the beginning are shared */
	uint64_t size;   /* of all memory in the file */
};

/*
 * `segments` are sorted by start. Reads all ranges once, to find zeroes. Leaves
 * out pages of which `memory` can read nothing. Errors: NO_MEMORY, FAULT (a
 * range cannot be read); call rcore_pack_plan_deinit() in any case.
 */
struct rcore_error *rcore_pack_plan_make(struct rcore_recorder *recorder,
					 struct rcore_memory *memory,
					 const struct rcore_segment *segments,
					 size_t segment_count, struct rcore_pack_plan *ret);
void rcore_pack_plan_deinit(struct rcore_pack_plan *plan);

/*
 * Sets those bytes of a page that were recorded and can be read; the others are
 * zero. Returns whether there are any. If `known` is not NULL, adds them to it,
 * for a page at `offset`; if memory is short for that, sets *no_memory.
 */
bool rcore_pack_page_read(const struct rcore_recorded_page *page, struct rcore_memory *memory,
			  uint64_t offset, struct rcore_known_writer *known, bool *no_memory,
			  uint8_t bytes[RCORE_RECORDER_PAGE]);

#endif
