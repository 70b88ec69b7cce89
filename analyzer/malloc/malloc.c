/* SPDX-License-Identifier: MIT */
#include "malloc/malloc.h"

#include <stdlib.h>
#include <string.h>

#include "malloc/ptmalloc.h"

static int compare_regions(const void *a, const void *b)
{
	const struct rcore_chunk_region *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

/*
 * Regions that overlap are lies of a corrupt heap: keeps the first one of them.
 */
static void sort(struct rcore_malloc *heap)
{
	size_t kept = 0;
	if (!heap->region_count)
		return;
	qsort(heap->regions, heap->region_count, sizeof(*heap->regions), compare_regions);
	for (size_t i = 0; i < heap->region_count; i++) {
		if (kept && heap->regions[i].start < heap->regions[kept - 1].end)
			rcore_malloc_problem(heap, "heaps of malloc() overlap at 0x%llx",
					     (unsigned long long)heap->regions[i].start);
		else
			heap->regions[kept++] = heap->regions[i];
	}
	heap->region_count = kept;
}

static void add_up(struct rcore_malloc *heap)
{
	for (size_t i = 0; i < heap->region_count; i++) {
		const struct rcore_chunk_region *region = &heap->regions[i];
		for (size_t n = region->first; n < region->first + region->count; n++) {
			struct rcore_chunk chunk;
			rcore_malloc_chunk(heap, region, n, &chunk);
			heap->sums[chunk.state].count++;
			heap->sums[chunk.state].bytes += chunk.bytes;
			if (region->kind != RCORE_CHUNK_REGION_MMAP)
				continue;
			heap->mmapped.count++;
			heap->mmapped.bytes += chunk.bytes;
		}
	}
}

static struct rcore_error *find_chunks(const struct rcore_malloc_source *source,
				       const struct rcore_pt_arenas *arenas,
				       struct rcore_malloc *heap)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < arenas->count && !err; i++) {
		heap->system_bytes += arenas->items[i].system_mem;
		err = rcore_pt_walk(source, arenas, &arenas->items[i], heap);
	}
	sort(heap);
	if (!err)
		err = rcore_pt_find_mmapped(source, heap);
	sort(heap);
	return err;
}

struct rcore_error *rcore_malloc_init(const struct rcore_malloc_source *source,
				      struct rcore_malloc *ret)
{
	struct rcore_pt_arenas arenas;
	bool has_all = true;
	memset(ret, 0, sizeof(*ret));
	ret->allocator = "glibc";
	struct rcore_error *err = rcore_pt_find_arenas(source, &arenas, &has_all);
	if (!err && !arenas.count)
		rcore_malloc_problem(ret, "the main arena of malloc() was not found in the "
					  "data of the C library");
	else if (!err && !has_all)
		rcore_malloc_problem(ret, "the list of malloc()'s arenas is corrupt, or is not "
					  "saved in the core; some are missing");
	if (!err && arenas.count) {
		ret->is_known = true;
		ret->arena_count = arenas.count;
		err = find_chunks(source, &arenas, ret);
	}
	if (!err && arenas.count) {
		rcore_pt_mark_fast(source, &arenas, ret);
		rcore_pt_mark_cached(source, ret);
		add_up(ret);
	}
	free(arenas.items);
	if (err)
		rcore_malloc_deinit(ret);
	return err;
}
