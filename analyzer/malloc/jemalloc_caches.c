/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/text.h"
#include "malloc/jemalloc.h"

/*
 * An arena (arena_s of arena.h) has, after its statistics, a ring of
 * descriptors, which are members of the threads' caches:
 *
 * 	0	next, previous
 * 	16	its bins: an array with an element for each size class, first of
 * 		slabs; up to 5.2 another one of larger classes follows
 *
 * and a bin is
 *
 * 			up to 5.2		from 5.3 on
 * 	0		lowest count, count	the first region's place
 * 	8		statistics		statistics
 * 	16		the end of all places	the lowest 16 bits of where it
 * 						is at its lowest, full, empty
 *
 * The places of cached regions are an array that ends where the bin is empty.
 * Pointers to arenas are in the data. No other word of the data or of an arena
 * leads to a ring whose bins contain only regions in use of the bin's size.
 */
enum {
	/* How far the ring is from the start of its arena: at most 10 KiB. */
	ARENA_HEAD = 32 << 10,
	/* Different words that may be pointers to arenas. */
	WORD_LIMIT = 1 << 14,
	/*
	 * Limits the descriptors, bins and regions that are looked at, apart
	 * from one look at each region: a ring of corrupt data may be long, and
	 * its members may share their bins.
	 */
	WORK_LIMIT = 1 << 25,
	MOST_BINS = 128,
	MOST_CACHED = 1 << 13,
	BIN = 24,
};

struct marking {
	const struct rcore_je *je;
	struct rcore_malloc *heap;
	uint64_t work;  /* how much is still allowed */
	size_t misfits; /* bins of caches that are not bins */
	uint64_t cached[MOST_CACHED];
	struct rcore_chunk chunks[MOST_CACHED];
};

static bool is_pointer(const struct rcore_je *je, uint64_t word)
{
	return word && word % 8 == 0 && !(word >> je->shape->lg_address);
}

/* Returns whether `amount` more may be looked at. */
static bool may_work(struct marking *marking, uint64_t amount)
{
	if (marking->work < amount)
		marking->work = 0;
	else
		marking->work -= amount;
	return marking->work;
}

/* Finds the places that a bin uses. Returns false if it is not a bin. */
static bool read_bin(const struct rcore_je *je, const uint8_t *bin, uint64_t *places,
		     uint64_t *count)
{
	uint64_t first, end;
	if (je->release->caches == RCORE_JE_CACHES_COUNTED) {
		uint32_t counts[2];
		memcpy(counts, bin, sizeof(counts));
		memcpy(&end, bin + 16, sizeof(end));
		*count = counts[1];
		*places = end - *count * 8;
		return *count < MOST_CACHED && is_pointer(je, end);
	}
	uint16_t marks[3];
	memcpy(&first, bin, sizeof(first));
	memcpy(marks, bin + 16, sizeof(marks));
	uint16_t used = (uint16_t)(marks[2] - (uint16_t)first);
	uint16_t room = (uint16_t)(marks[2] - marks[1]);
	*places = first;
	*count = used / 8;
	return is_pointer(je, first) && used % 8 == 0 && used <= room;
}

enum verdict { EMPTY, MARKED, MISFIT };

/* Marks the regions of a bin, or none if any word in it is not a region. */
static enum verdict mark_bin(struct marking *marking, const uint8_t *bin, unsigned size_class)
{
	static const uint8_t none[BIN];
	uint64_t places, count;
	/* The bin was never used. */
	if (memcmp(bin, none, BIN) == 0)
		return EMPTY;
	if (!read_bin(marking->je, bin, &places, &count) || !may_work(marking, count) ||
	    rcore_read(marking->je->source->memory, places, marking->cached, count * 8))
		return MISFIT;
	for (uint64_t i = 0; i < count; i++) {
		struct rcore_chunk *chunk = &marking->chunks[i];
		if (!rcore_malloc_find(marking->heap, marking->cached[i], false, chunk) ||
		    !rcore_je_is_of_class(marking->je, chunk->bytes, size_class))
			return MISFIT;
	}
	for (uint64_t i = 0; i < count; i++)
		marking->heap->state[marking->chunks[i].index] = RCORE_CHUNK_CACHED;
	return count ? MARKED : EMPTY;
}

/*
 * A cache has a bin for each class of slabs. How many bins of larger classes
 * follow is not known: the first that does not fit is after the last one. If
 * some bins of slabs fit and others do not, this is a cache, and these are
 * corrupt; otherwise, it is something else.
 */
static void mark_bins(struct marking *marking, uint64_t bins, unsigned first, unsigned end)
{
	const unsigned slabs = marking->je->slab_classes;
	size_t marked = 0, misfits = 0;
	for (unsigned i = first; i < end && i < RCORE_JE_CLASSES; i++) {
		uint8_t bin[BIN];
		enum verdict verdict = MISFIT;
		if (!may_work(marking, 1))
			return;
		if (!rcore_read(marking->je->source->memory, bins + (uint64_t)(i - first) * BIN,
				bin, BIN))
			verdict = mark_bin(marking, bin, i);
		if (verdict == MISFIT && i >= slabs)
			break;
		marked += verdict == MARKED && i < slabs;
		misfits += verdict == MISFIT;
		if (misfits > marked + 1)
			return;
	}
	if (marked > misfits)
		marking->misfits += misfits;
}

static bool read_descriptor(const struct rcore_je *je, uint64_t at, uint64_t words[4])
{
	words[3] = 0;
	return is_pointer(je, at) && !rcore_read(je->source->memory, at, words, 32) &&
	       is_pointer(je, words[0]) && is_pointer(je, words[1]) && is_pointer(je, words[2]);
}

/* Follows the ring that `first` is in, until something does not fit a ring. */
static void mark_ring(struct marking *marking, uint64_t first)
{
	const struct rcore_je *je = marking->je;
	const unsigned slabs = je->slab_classes;
	uint64_t at = first, words[4], next[4];
	if (!is_pointer(je, first) || !may_work(marking, 1) ||
	    !read_descriptor(je, first, words))
		return;
	while (may_work(marking, 1)) {
		if (!read_descriptor(je, words[0], next) || next[1] != at)
			return;
		if (je->release->caches == RCORE_JE_CACHES_COUNTED) {
			if (!is_pointer(je, words[3]))
				return;
			mark_bins(marking, words[2], 0, slabs);
			mark_bins(marking, words[3], slabs, MOST_BINS);
		} else {
			mark_bins(marking, words[2], 0, MOST_BINS);
		}
		at = words[0];
		if (at == first)
			return;
		memcpy(words, next, sizeof(words));
	}
}

static void mark_arena(struct marking *marking, uint64_t arena)
{
	static const size_t count = ARENA_HEAD / 8;
	uint64_t words[ARENA_HEAD / 8];
	rcore_malloc_copy(marking->je->source->memory, arena, arena + ARENA_HEAD, words);
	for (size_t i = 0; i < count; i++)
		if (words[i])
			mark_ring(marking, words[i]);
}

struct words {
	uint64_t *items;
	size_t count, capacity;
};

/*
 * Collects words that may be pointers to arenas, which are aligned to cache
 * lines.
 */
static bool add_words(const struct rcore_je *je, const struct rcore_malloc_range *range,
		      struct words *ret)
{
	enum { BLOCK = 4096 };
	const uint64_t root_end = je->root + rcore_je_level_size(je->shape, 0);
	uint64_t words[BLOCK / 8];
	for (uint64_t at = (range->start + 7) & ~UINT64_C(7); at + 8 <= range->end;) {
		if (at >= je->root && at < root_end) {
			at = root_end;
			continue;
		}
		uint64_t size = BLOCK - at % BLOCK;
		if (size > range->end - at)
			size = (range->end - at) & ~UINT64_C(7);
		if (at < je->root && size > je->root - at)
			size = je->root - at;
		rcore_malloc_copy(je->source->memory, at, at + size, words);
		for (size_t i = 0; i < size / 8; i++) {
			if (!is_pointer(je, words[i]) || words[i] % 64)
				continue;
			uint64_t *word = rcore_push(ret);
			if (!word)
				return false;
			*word = words[i];
		}
		at += size;
	}
	return true;
}

/* Sorts the words, and keeps each once, and at most WORD_LIMIT. */
static void sort_words(struct words *words)
{
	size_t kept = 0;
	if (words->count)
		qsort(words->items, words->count, sizeof(*words->items), rcore_ascending);
	for (size_t i = 0; i < words->count && kept <= WORD_LIMIT; i++)
		if (!i || words->items[i] != words->items[i - 1])
			words->items[kept++] = words->items[i];
	words->count = kept;
}

/* Says what was not read: these regions count as in use. */
static void say_problems(const struct marking *marking, bool is_cut)
{
	if (marking->misfits)
		rcore_malloc_problem(
			marking->heap,
			"%zu bin%s of jemalloc's caches %s corrupt: the memory there "
			"counts as in use",
			marking->misfits, rcore_plural(marking->misfits),
			rcore_are(marking->misfits));
	if (is_cut || !marking->work)
		rcore_malloc_problem(marking->heap,
				     "jemalloc's data has too many words that may lead to "
				     "caches: the memory in some counts as in use");
}

struct rcore_error *rcore_je_mark_cached(const struct rcore_je *je, struct rcore_malloc *heap)
{
	struct marking *marking = malloc(sizeof(*marking));
	struct words words = {0};
	bool ok = marking != NULL;
	for (size_t i = 0; i < je->source->data_count && ok; i++)
		ok = add_words(je, &je->source->data[i], &words);
	if (ok) {
		marking->je = je;
		marking->heap = heap;
		marking->work = WORK_LIMIT + (uint64_t)heap->chunk_count;
		marking->misfits = 0;
		sort_words(&words);
		const bool is_cut = words.count > WORD_LIMIT;
		for (size_t i = 0; i < words.count && i < WORD_LIMIT && marking->work; i++)
			mark_arena(marking, words.items[i]);
		say_problems(marking, is_cut);
	}
	free(words.items);
	free(marking);
	return ok ? NULL : rcore_error_no_memory();
}
