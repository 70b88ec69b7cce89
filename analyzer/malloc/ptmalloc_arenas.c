/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "malloc/ptmalloc.h"

/* The writable data of glibc 2.31 to 2.43 has about 50 KB. */
enum { DATA_LIMIT = 4 << 20 };

/* glibc makes at most eight arenas for each processor. */
enum { ARENA_LIMIT = 1 << 16 };

enum {
	BIN_SIZE = 16,     /* the words fd and bk */
	LEAST_EMPTY = 4,   /* an arena has at least so many empty bins */
	MOST_BEFORE = 256, /* the bins start at most so far into an arena */
};

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, sizeof(word));
	return word;
}

/*
 * Returns whether the first and the last free chunk of a bin point back to it.
 * A free chunk has fd at 16 and bk at 24.
 */
static bool is_linked(struct rcore_memory *memory, uint64_t bin, uint64_t forward,
		      uint64_t back)
{
	uint64_t first = 0, last = 0;
	return !rcore_read_u64(memory, forward + 24, &first) &&
	       !rcore_read_u64(memory, back + 16, &last) && first == bin && last == bin;
}

enum { MOST_WRONG = 4 };

/*
 * Returns how many bins are wrong if the bins of an arena, of which `bytes` is
 * a copy, are at `address`. If more than MOST_WRONG are, this is not an arena.
 * A few may be wrong, because the process may have died of a corrupt heap or
 * within malloc().
 */
static unsigned count_wrong(struct rcore_memory *memory, uint64_t address, const uint8_t *bytes)
{
	unsigned empty = 0, wrong = 0;
	for (unsigned i = 0; i < RCORE_PT_BINS; i++) {
		uint64_t bin = address + (uint64_t)BIN_SIZE * i - RCORE_CHUNK_MEMORY;
		empty += word_at(bytes + (size_t)BIN_SIZE * i) == bin &&
			 word_at(bytes + (size_t)BIN_SIZE * i + 8) == bin;
	}
	if (empty < LEAST_EMPTY)
		return MOST_WRONG + 1;
	for (unsigned i = 0; i < RCORE_PT_BINS && wrong <= MOST_WRONG; i++) {
		uint64_t bin = address + (uint64_t)BIN_SIZE * i - RCORE_CHUNK_MEMORY;
		uint64_t forward = word_at(bytes + (size_t)BIN_SIZE * i);
		uint64_t back = word_at(bytes + (size_t)BIN_SIZE * i + 8);
		wrong += forward != bin && !is_linked(memory, bin, forward, back);
	}
	return wrong;
}

static void find_in(struct rcore_memory *memory, const struct rcore_malloc_range *range,
		    uint8_t *bytes, uint64_t *ret)
{
	size_t size = range->end - range->start;
	/* Parts that the core lacks are read as zeroes, which are not bins. */
	rcore_malloc_copy(memory, range->start, range->end, bytes);
	/* Near the right address, most bins seem right, too. */
	unsigned least = MOST_WRONG + 1;
	for (size_t at = -range->start % 8; at + RCORE_PT_END <= size && least; at += 8) {
		unsigned wrong = count_wrong(memory, range->start + at, bytes + at);
		if (wrong >= least)
			continue;
		least = wrong;
		*ret = range->start + at;
	}
}

static struct rcore_error *find_bins(const struct rcore_malloc_source *source, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < source->data_count && !*ret; i++) {
		const struct rcore_malloc_range *range = &source->data[i];
		uint64_t size = range->end - range->start;
		if (range->end <= range->start || size > DATA_LIMIT || size < RCORE_PT_END)
			continue;
		uint8_t *bytes = malloc(size);
		if (!bytes)
			return rcore_error_no_memory();
		find_in(source->memory, range, bytes, ret);
		free(bytes);
	}
	return NULL;
}

bool rcore_pt_size(struct rcore_memory *memory, uint64_t chunk, uint64_t *size, unsigned *flags)
{
	uint64_t word;
	if (rcore_read_u64(memory, chunk + 8, &word))
		return false;
	*size = word & ~(uint64_t)RCORE_CHUNK_FLAGS;
	*flags = word & RCORE_CHUNK_FLAGS;
	return true;
}

static bool read_arena(struct rcore_memory *memory, uint64_t bins, struct rcore_pt_arena *ret)
{
	unsigned flags;
	*ret = (struct rcore_pt_arena){.bins = bins};
	return !rcore_read_u64(memory, bins + RCORE_PT_TOP, &ret->top) &&
	       !rcore_read_u64(memory, bins + RCORE_PT_SYSTEM, &ret->system_mem) &&
	       rcore_pt_size(memory, ret->top, &ret->top_size, &flags);
}

/*
 * Follows the ring from the main arena, which starts `before` bytes before its
 * bins. Returns the number of arenas, or 0 if the ring does not lead back to
 * the main one.
 */
static size_t follow(struct rcore_memory *memory, uint64_t bins, uint64_t before)
{
	uint64_t arena = bins - before;
	for (size_t count = 1; count <= ARENA_LIMIT; count++) {
		if (rcore_read_u64(memory, arena + before + RCORE_PT_NEXT, &arena))
			return 0;
		if (arena == bins - before)
			return count;
	}
	return 0;
}

static struct rcore_error *add_arenas(struct rcore_memory *memory, uint64_t bins, size_t count,
				      struct rcore_pt_arenas *ret, bool *has_all)
{
	uint64_t arena = bins - ret->before;
	for (size_t i = 0; i < count; i++) {
		struct rcore_pt_arena *item = rcore_push(ret);
		if (!item)
			return rcore_error_no_memory();
		if (!read_arena(memory, arena + ret->before, item)) {
			ret->count--;
			*has_all = false;
		}
		if (rcore_read_u64(memory, arena + ret->before + RCORE_PT_NEXT, &arena))
			break;
	}
	return NULL;
}

struct rcore_error *rcore_pt_find_arenas(const struct rcore_malloc_source *source,
					 struct rcore_pt_arenas *ret, bool *has_all)
{
	/* If the ring is broken, assumes the oldest layout. */
	enum { USUALLY_BEFORE = 112 };
	uint64_t bins;
	size_t count = 0;
	memset(ret, 0, sizeof(*ret));
	struct rcore_error *err = find_bins(source, &bins);
	if (err || !bins)
		return err;
	for (ret->before = BIN_SIZE; ret->before <= MOST_BEFORE && !count; ret->before += 8)
		count = follow(source->memory, bins, ret->before);
	*has_all = count != 0;
	ret->before = count ? ret->before - 8 : USUALLY_BEFORE;
	return add_arenas(source->memory, bins, count ? count : 1, ret, has_all);
}
