/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "malloc/jemalloc.h"

enum { ARENA_BITS = 12, SIZE_CLASS_BITS = 8, LG_SMALLEST = 3, LG_QUANTUM = 4, LG_GROUP = 2 };

/*
 * size_classes() of sc.c: 8, then multiples of 16 up to 64, then four sizes
 * between two powers of two. A class of less than four pages is in slabs.
 */
void rcore_je_set_sizes(struct rcore_je *je)
{
	unsigned count = 0;
	je->sizes[count++] = UINT64_C(1) << LG_SMALLEST;
	for (unsigned i = 1; i <= 1 << LG_GROUP; i++)
		je->sizes[count++] = (uint64_t)i << LG_QUANTUM;
	for (unsigned lg = LG_QUANTUM + LG_GROUP; count < RCORE_JE_CLASSES; lg++)
		for (unsigned i = 1; i <= 1 << LG_GROUP && count < RCORE_JE_CLASSES; i++)
			je->sizes[count++] =
				(UINT64_C(1) << lg) + ((uint64_t)i << (lg - LG_GROUP));
	je->slab_classes = 0;
	while (je->sizes[je->slab_classes] < UINT64_C(1) << (je->shape->lg_page + LG_GROUP))
		je->slab_classes++;
}

uint64_t rcore_je_extent_of(const struct rcore_je_shape *shape, uint64_t entry)
{
	/*
	 * The lowest bits are flags, because an extent is aligned to a cache
	 * line.
	 */
	entry &= ~UINT64_C(63);
	return shape->is_compact ? entry & ((UINT64_C(1) << shape->lg_address) - 1) : entry;
}

static uint64_t bits(uint64_t word, unsigned shift, unsigned width)
{
	return word >> shift & ((UINT64_C(1) << width) - 1);
}

/* Whether the map has the number of free regions that the extent stores. */
static bool read_map(const struct rcore_je *je, uint64_t extent, struct rcore_je_extent *ret)
{
	unsigned words = (ret->regions + 63) / 64, count = 0;
	if (words > RCORE_JE_MAP_WORDS || rcore_read(je->source->memory, extent + RCORE_JE_MAP,
						     ret->free, words * sizeof(*ret->free)))
		return false;
	if (ret->regions % 64)
		ret->free[words - 1] &= (UINT64_C(1) << ret->regions % 64) - 1;
	for (unsigned i = 0; i < words; i++)
		count += (unsigned)__builtin_popcountll(ret->free[i]);
	return count == ret->free_regions;
}

enum rcore_je_verdict rcore_je_read_extent(const struct rcore_je *je, uint64_t entry,
					   struct rcore_je_extent *ret)
{
	const struct rcore_je_release *release = je->release;
	const uint64_t page = UINT64_C(1) << je->shape->lg_page;
	/* Wide enough to count the regions of the slab with the most. */
	const unsigned count_width = je->shape->lg_page - LG_SMALLEST + 1;
	uint64_t at = rcore_je_extent_of(je->shape, entry), words[3];
	ret->start = ret->end = 0;
	if (rcore_read(je->source->memory, at, words, sizeof(words)))
		return RCORE_JE_WRONG;
	ret->address = words[1];
	ret->start = words[1] & ~(page - 1);
	ret->end = ret->start + (words[2] & ~(page - 1));
	if (ret->end <= ret->start || ret->end >> je->shape->lg_address) {
		ret->end = ret->start;
		return RCORE_JE_WRONG;
	}
	if (bits(words[0], release->state, release->state_width))
		return RCORE_JE_UNUSED;
	ret->arena = (unsigned)bits(words[0], 0, ARENA_BITS);
	ret->is_slab = bits(words[0], ARENA_BITS, 1);
	ret->size_class = (unsigned)bits(words[0], release->size_class, SIZE_CLASS_BITS);
	/*
	 * Pages that a thread is returning to the kernel are free, but not in
	 * the state of free extents, so that no other thread takes them
	 * (ecache_evict() of extent.c, up to 5.2 extents_evict()).
	 */
	if (ret->size_class == RCORE_JE_CLASSES)
		return RCORE_JE_UNUSED;
	if (ret->size_class > RCORE_JE_CLASSES ||
	    (je->shape->is_compact && entry >> je->shape->lg_address != ret->size_class))
		return RCORE_JE_WRONG;
	ret->size = je->sizes[ret->size_class];
	if (!ret->is_slab) {
		/*
		 * An allocation that jemalloc's profiler samples has its own
		 * extent, even if it is small.
		 */
		if (ret->size_class >= je->slab_classes)
			ret->size = ret->end - ret->start - je->padding;
		return rcore_je_is_of_class(je, ret->size, ret->size_class) &&
				       ret->size <= ret->end - ret->address
			       ? RCORE_JE_VALID
			       : RCORE_JE_WRONG;
	}
	ret->regions = (unsigned)((ret->end - ret->start) / ret->size);
	ret->free_regions = (unsigned)bits(words[0], release->free_count, count_width);
	return ret->size_class < je->slab_classes && ret->address == ret->start &&
			       ret->regions && ret->regions <= page >> LG_SMALLEST &&
			       read_map(je, at, ret)
		       ? RCORE_JE_VALID
		       : RCORE_JE_WRONG;
}
