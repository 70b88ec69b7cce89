/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/order.h"
#include "malloc/ptmalloc.h"

/*
 * No list leads to a large chunk that has its own mapping. Its header shows it:
 * prev_size is the distance to the start of the mapping, prev_size and size add
 * up to whole pages, and malloc() returned an address at the start of a page or
 * a power of two after it. From glibc 2.43 on, the size excludes 16 bytes at
 * the end, and bit 0 of prev_size is set if its pages are huge.
 */

enum { PAGE = 4096, HUGE = 1 };

struct block {
	uint64_t start, size; /* of the mapping */
	uint64_t chunk;
};

static bool is_block(uint64_t chunk, uint64_t previous, uint64_t word, uint64_t limit,
		     struct block *ret)
{
	uint64_t offset = previous & ~(uint64_t)HUGE,
		 size = word & ~(uint64_t)RCORE_CHUNK_FLAGS;
	if ((word & RCORE_CHUNK_FLAGS) != RCORE_CHUNK_MMAPPED || offset > chunk ||
	    (chunk - offset) % PAGE || size < RCORE_CHUNK_MIN || size > limit - chunk ||
	    offset % RCORE_CHUNK_ALIGN || size % RCORE_CHUNK_ALIGN)
		return false;
	uint64_t whole = offset + size;
	if (whole % PAGE == PAGE - RCORE_CHUNK_MEMORY)
		whole += RCORE_CHUNK_MEMORY;
	*ret = (struct block){chunk - offset, whole, chunk};
	return whole % PAGE == 0 && whole <= limit - ret->start;
}

/*
 * Looks for a chunk whose memory starts in the page at `page`, or at its end.
 * Its mapping may begin before it, but not before `low`.
 */
static bool find_in_page(struct rcore_memory *memory, uint64_t page, uint64_t low,
			 uint64_t limit, struct block *ret)
{
	uint64_t words[PAGE / 8];
	if (rcore_read(memory, page, words, sizeof(words)))
		return false;
	for (unsigned in_page = RCORE_CHUNK_MEMORY; in_page <= PAGE; in_page *= 2) {
		unsigned at = (in_page - RCORE_CHUNK_MEMORY) / 8;
		if (is_block(page + (uint64_t)at * 8, words[at], words[at + 1], limit, ret) &&
		    ret->start >= low)
			return true;
	}
	return false;
}

/*
 * memalign() maps more than it needs and moves the chunk's header to the
 * aligned address (_int_memalign of malloc.c). The header that it wrote first
 * stays at the start of the mapping. If a second header exists, replaces the
 * first with it; its memory starts at the first or second multiple of a power
 * of two.
 */
static void find_aligned(struct rcore_memory *memory, uint64_t limit, struct block *block)
{
	uint64_t first = block->start + RCORE_CHUNK_MEMORY;
	for (uint64_t align = 2 * RCORE_CHUNK_ALIGN; align < block->size; align *= 2) {
		uint64_t at = ((first - 1) | (align - 1)) + 1;
		for (int i = 0; i < 2; i++, at += align) {
			uint64_t words[2], chunk = at - RCORE_CHUNK_MEMORY;
			struct block other;
			if (chunk > block->start && at < block->start + block->size &&
			    !rcore_read(memory, chunk, words, sizeof(words)) &&
			    is_block(chunk, words[0], words[1], limit, &other) &&
			    other.start == block->start && other.size == block->size) {
				*block = other;
				return;
			}
		}
	}
}

/*
 * Returns the end of what else is at a page, or 0 if nothing is: a mapped file,
 * or a heap that was found already, which is one of the first `regions`, sorted
 * by address.
 */
static uint64_t end_of_other(const struct rcore_malloc_source *source,
			     const struct rcore_malloc *heap, size_t regions, uint64_t page)
{
	size_t low = RCORE_PARTITION_POINT(regions, middle,
					   heap->regions[middle].start < page + PAGE);
	if (low && page < heap->regions[low - 1].end)
		return (heap->regions[low - 1].end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	low = RCORE_PARTITION_POINT(source->mapping_count, middle,
				    source->mappings[middle].start <= page);
	return low && page < source->mappings[low - 1].end ? source->mappings[low - 1].end : 0;
}

static struct rcore_error *search(const struct rcore_malloc_source *source,
				  struct rcore_malloc *heap, size_t regions, uint64_t start,
				  uint64_t end)
{
	uint64_t low = start;
	for (uint64_t page = start; page < end && end - page >= PAGE;) {
		struct block block;
		uint64_t filled = rcore_malloc_next_filled(&source->parts, page, end);
		if (filled - page >= PAGE) {
			page = filled & ~(uint64_t)(PAGE - 1);
			continue;
		}
		uint64_t skip = end_of_other(source, heap, regions, page);
		if (skip) {
			low = page = skip;
			continue;
		}
		if (!find_in_page(source->memory, page, low, end, &block)) {
			page += PAGE;
			continue;
		}
		if (block.chunk == block.start)
			find_aligned(source->memory, end, &block);
		low = page = block.start + block.size;
		if (!rcore_malloc_add_region(heap, block.chunk, page,
					     RCORE_CHUNK_REGION_MMAP) ||
		    !rcore_malloc_add_chunk(heap, block.chunk))
			return rcore_error_no_memory();
	}
	return NULL;
}

struct rcore_error *rcore_pt_find_mmapped(const struct rcore_malloc_source *source,
					  struct rcore_malloc *heap)
{
	size_t regions = heap->region_count;
	uint64_t done = 0;
	for (size_t i = 0; i < source->segment_count; i++) {
		const struct rcore_segment *segment = &source->segments[i];
		uint64_t start = segment->start & ~(uint64_t)(PAGE - 1);
		uint64_t end = segment->start + segment->saved;
		if (!segment->writable || segment->executable || end < segment->start)
			continue;
		/* Segments of a hostile pack may overlap. */
		struct rcore_error *err =
			search(source, heap, regions, start > done ? start : done, end);
		if (err)
			return err;
		done = end > done ? end & ~(uint64_t)(PAGE - 1) : done;
	}
	return NULL;
}
