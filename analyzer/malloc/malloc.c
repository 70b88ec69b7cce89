/* SPDX-License-Identifier: MIT */
#include "malloc/malloc.h"

#include <stdlib.h>
#include <string.h>

#include "malloc/ptmalloc.h"

static struct rcore_error *find_chunks(const struct rcore_malloc_source *source,
				       const struct rcore_pt_arenas *arenas,
				       struct rcore_malloc *heap)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < arenas->count && !err; i++) {
		heap->system_bytes += arenas->items[i].system_mem;
		err = rcore_pt_walk(source, arenas, &arenas->items[i], heap);
	}
	rcore_malloc_sort(heap);
	if (!err)
		err = rcore_pt_find_mmapped(source, heap);
	rcore_malloc_sort(heap);
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
		rcore_malloc_add_up(ret);
	}
	free(arenas.items);
	if (err)
		rcore_malloc_deinit(ret);
	return err;
}
