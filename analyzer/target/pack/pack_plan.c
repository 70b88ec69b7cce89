/* SPDX-License-Identifier: MIT */
#include "target/pack/pack_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/filler.h"
#include "base/grow.h"
#include "base/page_buffer.h"
#include "target/copy_range.h"

enum {
	PAGE = RCORE_RECORDER_PAGE,
	BLOCK = RCORE_RECORDER_BLOCK,
	/*
	 * The least size of zeroes that are shared, since each takes two more
	 * program headers.
	 */
	SHARED_LEAST = 16 << 10,
	/* Bytes of a range that are read at once. */
	CHUNK = 256 << 10,
};

void rcore_pack_plan_deinit(struct rcore_pack_plan *plan)
{
	free(plan->pieces.items);
	free(plan->headers.items);
	rcore_known_writer_deinit(&plan->known);
}

bool rcore_pack_page_read(const struct rcore_recorded_page *page, struct rcore_memory *memory,
			  uint64_t offset, struct rcore_known_writer *known, bool *no_memory,
			  uint8_t bytes[PAGE])
{
	bool any = false;
	size_t start, size;
	uint8_t run[PAGE];
	memset(bytes, 0, PAGE);
	for (size_t at = 0; rcore_recorded_read(page, memory, &at, &start, &size, run);) {
		memcpy(bytes + start, run, size);
		any = true;
		if (known && !rcore_known_add(known, offset + start, size))
			*no_memory = true;
	}
	for (size_t i = 0; any && i < PAGE; i += 64)
		for (uint64_t hidden = page->bits[RCORE_RECORDED_HIDDEN][i / 64]; hidden;
		     hidden &= hidden - 1)
			rcore_fill(bytes + i + __builtin_ctzll(hidden), 1);
	return any;
}

/*
 * While pieces are chosen and placed. `error` is NULL if something failed
 * because memory was short.
 */
struct planning {
	struct rcore_pack_plan *plan;
	struct rcore_memory *memory;
	uint8_t *buffer; /* CHUNK bytes */
	struct rcore_error *error;
};

static bool add_bytes(struct planning *planning, uint64_t start, uint64_t end, bool is_zero)
{
	struct rcore_pack_piece *piece =
		start < end ? rcore_push(&planning->plan->pieces) : NULL;
	if (piece)
		*piece = (struct rcore_pack_piece){
			.start = start,
			.end = end,
			.is_zero = is_zero,
			.is_shared = is_zero && end - start >= SHARED_LEAST,
		};
	return piece || start == end;
}

/*
 * Adds a range without its long zeroes, which gcore writes for all memory that
 * the program has never used.
 */
static bool add_searched(struct planning *planning, const struct rcore_recorded_range *range)
{
	/* Where they begin. */
	uint64_t data = range->start, zeroes = data;
	size_t size;
	for (uint64_t at = range->start; at < range->end; at += size) {
		size = range->end - at < CHUNK ? (size_t)(range->end - at) : CHUNK;
		enum rcore_fault fault =
			rcore_read(planning->memory, at, planning->buffer, size);
		if (fault) {
			planning->error = rcore_fault_error(fault, "memory to pack", at, size);
			return false;
		}
		for (uint64_t i = 0; i < size; i += BLOCK) {
			if (rcore_is_zero(planning->buffer + i, BLOCK))
				continue;
			if (at + i - zeroes >= SHARED_LEAST) {
				if (!add_bytes(planning, data, zeroes, false) ||
				    !add_bytes(planning, zeroes, at + i, true))
					return false;
				data = at + i;
			}
			zeroes = at + i + BLOCK;
		}
	}
	if (range->end - zeroes < SHARED_LEAST)
		return add_bytes(planning, data, range->end, false);
	return add_bytes(planning, data, zeroes, false) &&
	       add_bytes(planning, zeroes, range->end, true);
}

static bool add_range(struct planning *planning, const struct rcore_recorded_range *range)
{
	return range->is_zero ? add_bytes(planning, range->start, range->end, true)
			      : add_searched(planning, range);
}

static bool add_page(struct planning *planning, const struct rcore_recorded_page *page)
{
	struct rcore_pack_piece *piece = rcore_push(&planning->plan->pieces);
	if (piece)
		*piece = (struct rcore_pack_piece){
			.start = page->start, .end = page->start + PAGE, .page = page};
	return piece;
}

/* Adds pages and ranges; a page that lies in a range is part of it. */
static bool choose_pieces(struct planning *planning, struct rcore_recorder *recorder)
{
	size_t page_count, range_count, next = 0;
	const struct rcore_recorded_page *const *pages =
		rcore_recorder_pages(recorder, &page_count);
	const struct rcore_recorded_range *ranges =
		rcore_recorder_ranges(recorder, &range_count);
	for (size_t i = 0; pages && i < page_count; i++) {
		for (; next < range_count && ranges[next].start <= pages[i]->start; next++)
			if (!add_range(planning, &ranges[next]))
				return false;
		if ((!next || pages[i]->start >= ranges[next - 1].end) &&
		    !add_page(planning, pages[i]))
			return false;
	}
	for (; pages && next < range_count; next++)
		if (!add_range(planning, &ranges[next]))
			return false;
	return pages;
}

/* The zeroes come first, so that a truncated file still has them. */
static bool place_zeroes(struct rcore_pack_plan *plan)
{
	for (size_t i = 0; i < plan->pieces.count; i++) {
		const struct rcore_pack_piece *piece = &plan->pieces.items[i];
		if (piece->is_shared && piece->end - piece->start > plan->zeroes)
			plan->zeroes = piece->end - piece->start;
	}
	if (plan->zeroes > RCORE_PACK_SHARED)
		plan->zeroes = RCORE_PACK_SHARED;
	plan->size = plan->zeroes;
	return !plan->zeroes || rcore_known_add(&plan->known, 0, plan->zeroes);
}

/*
 * Finds a place for a piece. Sets *keep to false for a page of which nothing
 * can be read.
 */
static bool place_piece(struct planning *planning, struct rcore_pack_piece *piece, bool *keep)
{
	struct rcore_pack_plan *plan = planning->plan;
	uint8_t bytes[PAGE];
	bool no_memory = false;
	*keep = true;
	if (piece->is_shared)
		return true;
	piece->offset = plan->size;
	if (!piece->page)
		piece->offset = (plan->size + BLOCK - 1) & ~(uint64_t)(BLOCK - 1);
	if (piece->page)
		*keep = rcore_pack_page_read(piece->page, planning->memory, piece->offset,
					     &plan->known, &no_memory, bytes);
	else
		no_memory = !rcore_known_add(&plan->known, piece->offset,
					     piece->end - piece->start);
	if (*keep)
		plan->size = piece->offset + (piece->end - piece->start);
	return !no_memory;
}

static bool place_pieces(struct planning *planning)
{
	struct rcore_pack_plan *plan = planning->plan;
	size_t count = 0;
	if (!place_zeroes(plan))
		return false;
	for (size_t i = 0; i < plan->pieces.count; i++) {
		bool keep;
		if (!place_piece(planning, &plan->pieces.items[i], &keep))
			return false;
		if (keep)
			plan->pieces.items[count++] = plan->pieces.items[i];
	}
	plan->pieces.count = count;
	return true;
}

/* The first byte that has no program header yet. */
struct cursor {
	const struct rcore_pack_plan *plan;
	size_t piece;
	uint64_t at;
};

/* Returns the address of the cursor's byte; UINT64_MAX after the last one. */
static uint64_t address_of(const struct cursor *cursor)
{
	if (cursor->piece == cursor->plan->pieces.count)
		return UINT64_MAX;
	uint64_t start = cursor->plan->pieces.items[cursor->piece].start;
	return cursor->at > start ? cursor->at : start;
}

static void advance(struct cursor *cursor, uint64_t to)
{
	cursor->at = to;
	if (to == cursor->plan->pieces.items[cursor->piece].end)
		cursor->piece++;
}

/*
 * Moves the cursor past bytes below `end` that follow each other both in memory
 * and in the file. Returns how many, and sets *ret_offset to where they are.
 */
static uint64_t take(struct cursor *cursor, uint64_t end, uint64_t *ret_offset)
{
	const struct rcore_pack_plan *plan = cursor->plan;
	const uint64_t start = address_of(cursor);
	const struct rcore_pack_piece *piece = &plan->pieces.items[cursor->piece];
	if (piece->is_shared) {
		uint64_t to = piece->end < end ? piece->end : end;
		to = to - start < plan->zeroes ? to : start + plan->zeroes;
		*ret_offset = 0;
		advance(cursor, to);
		return to - start;
	}
	*ret_offset = piece->offset + (start - piece->start);
	for (uint64_t at = start; at < end; at = cursor->at) {
		piece = &plan->pieces.items[cursor->piece];
		if (address_of(cursor) != at || piece->is_shared ||
		    piece->offset + (at - piece->start) != *ret_offset + (at - start))
			break;
		advance(cursor, piece->end < end ? piece->end : end);
		if (cursor->piece == plan->pieces.count)
			break;
	}
	return cursor->at - start;
}

static bool add_header(struct rcore_pack_plan *plan, uint32_t flags, uint64_t address,
		       uint64_t offset, uint64_t saved, uint64_t size)
{
	Elf64_Phdr *header = rcore_push(&plan->headers);
	if (!header)
		return false;
	*header = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = flags,
		.p_offset = offset,
		.p_vaddr = address,
		.p_filesz = saved,
		.p_memsz = size,
		.p_align = 1,
	};
	return true;
}

static uint32_t flags_of(const struct rcore_segment *segment)
{
	return (segment->readable ? PF_R : 0) | (segment->writable ? PF_W : 0) |
	       (segment->executable ? PF_X : 0);
}

/* Adds the headers of one segment from `at` on. */
static bool place_segment(struct rcore_pack_plan *plan, const struct rcore_segment *segment,
			  uint64_t at, struct cursor *cursor)
{
	uint64_t end = segment->start + segment->size;
	while (at < end) {
		uint64_t offset = plan->size, saved = 0;
		if (address_of(cursor) == at)
			saved = take(cursor, end, &offset);
		uint64_t limit = address_of(cursor) < end ? address_of(cursor) : end;
		if (!add_header(plan, flags_of(segment), at, offset, saved, limit - at))
			return false;
		at = limit;
	}
	return true;
}

/*
 * Adds headers for bytes below `end` that are in no segment of the core: files
 * that gdb left out.
 */
static bool place_strangers(struct rcore_pack_plan *plan, uint64_t end, struct cursor *cursor)
{
	while (address_of(cursor) < end) {
		uint64_t start = address_of(cursor), offset;
		uint64_t saved = take(cursor, end, &offset);
		if (!add_header(plan, PF_R, start, offset, saved, saved))
			return false;
	}
	return true;
}

static bool place_headers(struct rcore_pack_plan *plan, const struct rcore_segment *segments,
			  size_t segment_count)
{
	uint64_t placed = 0;
	struct cursor cursor = {.plan = plan};
	for (size_t i = 0; i < segment_count; i++) {
		const struct rcore_segment *segment = &segments[i];
		uint64_t start = segment->start > placed ? segment->start : placed;
		uint64_t end = segment->start + segment->size;
		if (start >= end)
			continue;
		if (!place_strangers(plan, start, &cursor) ||
		    !place_segment(plan, segment, start, &cursor))
			return false;
		placed = end;
	}
	return place_strangers(plan, UINT64_MAX, &cursor);
}

struct rcore_error *rcore_pack_plan_make(struct rcore_recorder *recorder,
					 struct rcore_memory *memory,
					 const struct rcore_segment *segments,
					 size_t segment_count, struct rcore_pack_plan *ret)
{
	struct planning planning = {
		.plan = ret, .memory = memory, .buffer = rcore_page_buffer(CHUNK)};
	*ret = (struct rcore_pack_plan){0};
	bool fine = planning.buffer && choose_pieces(&planning, recorder) &&
		    place_pieces(&planning) && place_headers(ret, segments, segment_count);
	free(planning.buffer);
	if (fine && !rcore_recorder_is_short(recorder))
		return NULL;
	return planning.error ? planning.error : rcore_error_no_memory();
}
