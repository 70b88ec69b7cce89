/* SPDX-License-Identifier: MIT */
#include "malloc/jemalloc.h"

#include <string.h>

/*
 * Limits the pages of the tree: 512 for each GiB of addresses in use, plus
 * those of the root.
 */
enum { ARENAS = 1 << 12, WALK_BUDGET = 1 << 22 };

struct adding {
	struct rcore_malloc *heap;
	bool no_memory;
	size_t wrong;
	bool has_arena[ARENAS];
};

static bool is_free(const struct rcore_je_extent *extent, unsigned region)
{
	return extent->free[region / 64] >> region % 64 & 1;
}

static bool add_slab(struct rcore_malloc *heap, const struct rcore_je_extent *extent)
{
	const uint64_t size = extent->size;
	if (!rcore_malloc_add_region(heap, extent->address,
				     extent->address + size * extent->regions,
				     RCORE_CHUNK_REGION_SLAB))
		return false;
	heap->regions[heap->region_count - 1].chunk_size = (uint32_t)size;
	for (unsigned i = 0; i < extent->regions; i++) {
		if (!rcore_malloc_add_chunk(heap, extent->address + i * size))
			return false;
		if (is_free(extent, i))
			heap->state[heap->chunk_count - 1] = RCORE_CHUNK_FREE;
	}
	return true;
}

static bool add_large(struct rcore_malloc *heap, const struct rcore_je_extent *extent)
{
	return rcore_malloc_add_region(heap, extent->address, extent->address + extent->size,
				       RCORE_CHUNK_REGION_LARGE) &&
	       rcore_malloc_add_chunk(heap, extent->address);
}

static bool add_extent(void *context, const struct rcore_je_extent *extent)
{
	struct adding *adding = context;
	struct rcore_malloc *heap = adding->heap;
	if (!extent) {
		adding->wrong++;
		return true;
	}
	bool ok = extent->is_slab ? add_slab(heap, extent) : add_large(heap, extent);
	heap->arena_count += !adding->has_arena[extent->arena];
	adding->has_arena[extent->arena] = true;
	heap->system_bytes += extent->end - extent->start;
	adding->no_memory = !ok;
	return ok;
}

static struct rcore_error *read_heap(struct rcore_je *je, struct rcore_malloc *heap)
{
	struct adding adding = {.heap = heap};
	struct rcore_je_walked walked;
	je->budget = WALK_BUDGET;
	struct rcore_error *err = rcore_je_walk(je, add_extent, &adding, &walked);
	if (err)
		return err;
	if (adding.no_memory)
		return rcore_error_no_memory();
	if (adding.wrong)
		rcore_malloc_problem(heap,
				     "extents of jemalloc that are corrupt or not saved in the "
				     "core: %zu; their memory is missing",
				     adding.wrong);
	if (!walked.is_complete)
		rcore_malloc_problem(heap,
				     "parts of jemalloc's tree of extents are not saved "
				     "in the core: the memory of their extents is missing");
	rcore_malloc_sort(heap);
	err = rcore_je_mark_cached(je, heap);
	if (!err)
		rcore_malloc_add_up(heap);
	return err;
}

struct rcore_error *rcore_jemalloc_init(const struct rcore_malloc_source *source,
					struct rcore_malloc *ret)
{
	struct rcore_je je = {.source = source};
	memset(ret, 0, sizeof(*ret));
	ret->allocator = "jemalloc";
	ret->kind = RCORE_MALLOC_JEMALLOC;
	struct rcore_error *err = rcore_je_find_tree(&je, &ret->is_known);
	if (!err && ret->is_known)
		err = read_heap(&je, ret);
	else if (!err)
		rcore_malloc_problem(ret, "no tree of extents as jemalloc 5.1 to 5.3 has it "
					  "was found in its data: it is not known which C "
					  "memory is in use");
	if (err)
		rcore_malloc_deinit(ret);
	return err;
}
