/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "malloc/ptmalloc.h"

/*
 * From glibc 2.32 on, a link of these lists is stored as its value ^ (its own
 * address >> 12). rcore tries both readings of a word, because only one of them
 * is a chunk or the end of the list.
 */
static bool follow(const struct rcore_malloc *heap, uint64_t at, uint64_t word,
		   uint64_t to_memory, struct rcore_chunk *ret)
{
	uint64_t protected = word ^ at >> 12;
	if (!word || !protected)
		return false;
	return rcore_malloc_find(heap, protected + to_memory, false, ret) ||
	       rcore_malloc_find(heap, word + to_memory, false, ret);
}

/*
 * Marks the chunks of a list from `chunk` on. A marked chunk is no longer in
 * use, so a cyclic list ends.
 */
static void mark_list(struct rcore_memory *memory, struct rcore_malloc *heap,
		      struct rcore_chunk chunk, uint64_t to_memory,
		      enum rcore_chunk_state state)
{
	uint64_t next;
	do {
		heap->state[chunk.index] = (uint8_t)state;
		if (rcore_read_u64(memory, chunk.address, &next))
			return;
	} while (follow(heap, chunk.address, next, to_memory, &chunk));
}

/* Links of fastbins point to chunks, and the first link is stored as it is. */
void rcore_pt_mark_fast(const struct rcore_malloc_source *source,
			const struct rcore_pt_arenas *arenas, struct rcore_malloc *heap)
{
	for (size_t i = 0; i < arenas->count && rcore_pt_has_fastbins(arenas); i++)
		for (unsigned bin = 0; bin < RCORE_PT_FASTBIN_COUNT; bin++) {
			uint64_t at = arenas->items[i].bins + RCORE_PT_FASTBINS + bin * 8;
			uint64_t first;
			struct rcore_chunk chunk;
			if (!rcore_read_u64(source->memory, at, &first) && first &&
			    rcore_malloc_find(heap, first + RCORE_CHUNK_MEMORY, false, &chunk))
				mark_list(source->memory, heap, chunk, RCORE_CHUNK_MEMORY,
					  RCORE_CHUNK_FAST);
		}
}

/*
 * A thread's cache (struct tcache_perthread_struct) is a chunk of malloc()
 * itself: a counter for each size, then a list for each size. The pointer to it
 * is a thread-local variable without a symbol. So it is recognized by its size,
 * and because each of its lists begins with a chunk of the list's size.
 */
static const struct shape {
	uint32_t bytes; /* of its chunk */
	uint16_t bins, counter_size;
} shapes[] = {
	{0x250, 64, 1}, /* 2.26 to 2.29 */
	{0x290, 64, 2}, /* to 2.41 */
	{0x300, 76, 2}, /* from 2.42 on; the last 12 are for large sizes */
};

enum { SMALL_BINS = 64, MOST_BINS = 76, MOST_SHAPE = 0x300 };

static const struct shape *shape_of(uint64_t bytes)
{
	for (size_t i = 0; i < RCORE_COUNT(shapes); i++)
		if (shapes[i].bytes == bytes)
			return &shapes[i];
	return NULL;
}

static bool fits(const struct rcore_chunk *chunk, unsigned bin)
{
	uint64_t small = RCORE_CHUNK_MIN + (uint64_t)bin * RCORE_CHUNK_ALIGN;
	return bin < SMALL_BINS
		       ? chunk->bytes == small
		       : chunk->bytes >= RCORE_CHUNK_MIN + SMALL_BINS * RCORE_CHUNK_ALIGN;
}

/*
 * Marks all chunks of a thread's cache, or none if this chunk is not a cache.
 */
static void mark_cache(struct rcore_memory *memory, struct rcore_malloc *heap,
		       const struct shape *shape, uint64_t address)
{
	uint8_t bytes[MOST_SHAPE];
	uint64_t lists[MOST_BINS];
	struct rcore_chunk first[MOST_BINS];
	size_t lists_at = (size_t)shape->bins * shape->counter_size;
	size_t lists_size = shape->bins * sizeof(*lists);
	if (rcore_read(memory, address, bytes, lists_at + lists_size))
		return;
	memcpy(lists, bytes + lists_at, lists_size);
	for (unsigned bin = 0; bin < shape->bins; bin++)
		if (lists[bin] && (!rcore_malloc_find(heap, lists[bin], false, &first[bin]) ||
				   !fits(&first[bin], bin)))
			return;
	for (unsigned bin = 0; bin < shape->bins; bin++)
		if (lists[bin])
			mark_list(memory, heap, first[bin], 0, RCORE_CHUNK_CACHED);
}

void rcore_pt_mark_cached(const struct rcore_malloc_source *source, struct rcore_malloc *heap)
{
	for (size_t i = 0; i < heap->region_count; i++) {
		const struct rcore_chunk_region *region = &heap->regions[i];
		for (size_t n = region->first; n < region->first + region->count; n++) {
			struct rcore_chunk chunk;
			rcore_malloc_chunk(heap, region, n, &chunk);
			const struct shape *shape = shape_of(chunk.bytes);
			if (shape && chunk.state == RCORE_CHUNK_USED)
				mark_cache(source->memory, heap, shape, chunk.address);
		}
	}
}
