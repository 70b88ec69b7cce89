/* SPDX-License-Identifier: MIT */
#include "malloc/ptmalloc.h"

/* The largest distance that 32 bits can count in units of 16 bytes. */
#define REGION_LIMIT (UINT64_C(1) << 36)

/* A walk along the chunks of one heap. */
struct walk {
	struct rcore_memory *memory;
	struct rcore_malloc *heap;
	uint64_t top; /* of the arena */
	/* A copy of the memory around the last chunk. */
	uint64_t copy_start;
	size_t copy_size;
	uint64_t copy[4096 / 8];
};

/* Reads a page at a time, because most chunks are smaller. */
static bool read_size(struct walk *walk, uint64_t chunk, uint64_t *size, unsigned *flags)
{
	uint64_t at = chunk + 8;
	if (at - walk->copy_start >= walk->copy_size) {
		walk->copy_start = at & ~(uint64_t)(sizeof(walk->copy) - 1);
		walk->copy_size = sizeof(walk->copy);
		if (rcore_read(walk->memory, walk->copy_start, walk->copy, walk->copy_size)) {
			walk->copy_size = 0;
			return rcore_pt_size(walk->memory, chunk, size, flags);
		}
	}
	uint64_t word = walk->copy[(at - walk->copy_start) / 8];
	*size = word & ~(uint64_t)RCORE_CHUNK_FLAGS;
	*flags = word & RCORE_CHUNK_FLAGS;
	return true;
}

static bool is_valid(uint64_t size, unsigned flags, uint64_t rest)
{
	return size >= RCORE_CHUNK_MIN && size % RCORE_CHUNK_ALIGN == 0 && size <= rest &&
	       !(flags & RCORE_CHUNK_MMAPPED);
}

/* Ends the region at `chunk`, which may not be a valid chunk. */
static void end_at(struct walk *walk, uint64_t chunk)
{
	walk->heap->regions[walk->heap->region_count - 1].end = chunk;
}

static void set_last(struct rcore_malloc *heap, enum rcore_chunk_state state)
{
	heap->state[heap->chunk_count - 1] = (uint8_t)state;
}

/* Returns the last chunk of the region; 0: there is none. */
static uint64_t last_chunk(const struct rcore_malloc *heap)
{
	const struct rcore_chunk_region *region = &heap->regions[heap->region_count - 1];
	return region->count ? region->start + (uint64_t)heap->offset[heap->chunk_count - 1] *
						       RCORE_CHUNK_ALIGN
			     : 0;
}

/*
 * If glibc cannot extend a heap, it puts fenceposts at its end, which are too
 * small to be used (sysmalloc()): one of 16 bytes and, in a heap of a thread,
 * an empty one in the last 16 bytes. If there is only room for the empty one,
 * it follows the rest of the old top, which has 32 bytes.
 */
static bool is_fence(const struct walk *walk, uint64_t chunk, uint64_t size, uint64_t rest)
{
	return size == RCORE_CHUNK_ALIGN || (size == 0 && rest == RCORE_CHUNK_ALIGN &&
					     chunk - last_chunk(walk->heap) == RCORE_CHUNK_MIN);
}

/*
 * Ends the region at a fencepost. The rest of the old top before an empty one
 * counts as used, but no malloc() returned it.
 */
static void end_at_fence(struct walk *walk, uint64_t chunk, uint64_t size)
{
	struct rcore_malloc *heap = walk->heap;
	if (!size) {
		chunk = last_chunk(heap);
		heap->chunk_count--;
		heap->regions[heap->region_count - 1].count--;
	}
	end_at(walk, chunk);
}

static struct rcore_error *walk_heap(struct walk *walk, uint64_t start, uint64_t end,
				     enum rcore_chunk_region_kind kind)
{
	struct rcore_malloc *heap = walk->heap;
	if (end - start > REGION_LIMIT) {
		rcore_malloc_problem(heap, "a heap of malloc() has an impossible size");
		return NULL;
	}
	if (!rcore_malloc_add_region(heap, start, end, kind))
		return rcore_error_no_memory();
	size_t first = heap->chunk_count;
	for (uint64_t chunk = start, size; chunk < end; chunk += size) {
		unsigned flags;
		bool is_read = read_size(walk, chunk, &size, &flags);
		if (is_read && heap->chunk_count > first &&
		    !(flags & RCORE_CHUNK_PREVIOUS_USED))
			set_last(heap, RCORE_CHUNK_FREE);
		if (is_read && is_fence(walk, chunk, size, end - chunk)) {
			end_at_fence(walk, chunk, size);
			return NULL;
		}
		if (!is_read || !is_valid(size, flags, end - chunk)) {
			rcore_malloc_problem(heap,
					     "the heap of malloc() at 0x%llx is %s at 0x%llx: "
					     "chunks from there on are missing",
					     (unsigned long long)start,
					     is_read ? "corrupt" : "not readable",
					     (unsigned long long)chunk);
			end_at(walk, chunk);
			return NULL;
		}
		if (!rcore_malloc_add_chunk(heap, chunk))
			return rcore_error_no_memory();
		if (chunk == walk->top)
			set_last(heap, RCORE_CHUNK_TOP);
	}
	return NULL;
}

static uint64_t align(uint64_t address)
{
	return (address + RCORE_CHUNK_ALIGN - 1) & ~(uint64_t)(RCORE_CHUNK_ALIGN - 1);
}

/*
 * The main arena grows with brk(). If all of it is contiguous, as usual, it
 * starts system_mem bytes before the end of its top.
 */
static struct rcore_error *walk_main(struct walk *walk, const struct rcore_pt_arena *arena)
{
	uint64_t end = arena->top + arena->top_size;
	if (end < arena->top || arena->system_mem > end ||
	    arena->system_mem < arena->top_size) {
		rcore_malloc_problem(walk->heap, "the main arena of malloc() is corrupt");
		return NULL;
	}
	return walk_heap(walk, align(end - arena->system_mem), end, RCORE_CHUNK_REGION_MAIN);
}

/*
 * Another arena has heaps, aligned to RCORE_PT_HEAP_SIZE, that begin with a
 * struct _heap_info: arena, previous heap, size. The arena itself follows the
 * struct of the first heap, so its address shows the struct's size. `top` is in
 * the last heap.
 */
static struct rcore_error *walk_arena(struct walk *walk, const struct rcore_pt_arenas *arenas,
				      const struct rcore_pt_arena *arena)
{
	enum { HEAP_LIMIT = 1 << 16, INFO_LIMIT = 256 };
	uint64_t self = arena->bins - arenas->before;
	uint64_t info_size = self & 0xfff;
	uint64_t at = arena->top & ~(RCORE_PT_HEAP_SIZE - 1);
	for (unsigned i = 0; at && i < HEAP_LIMIT; i++) {
		uint64_t info[3]; /* ar_ptr, prev, size */
		if (rcore_read(walk->memory, at, info, sizeof(info)) || info[0] != self ||
		    info[2] > RCORE_PT_HEAP_SIZE || info_size > INFO_LIMIT)
			break;
		uint64_t start = info[1] ? at + info_size : align(arena->bins + RCORE_PT_END);
		if (start - at > info[2])
			break;
		struct rcore_error *err =
			walk_heap(walk, start, at + info[2], RCORE_CHUNK_REGION_ARENA);
		if (err || !info[1])
			return err;
		at = info[1];
	}
	rcore_malloc_problem(walk->heap, "an arena of malloc() at 0x%llx is corrupt",
			     (unsigned long long)self);
	return NULL;
}

struct rcore_error *rcore_pt_walk(const struct rcore_malloc_source *source,
				  const struct rcore_pt_arenas *arenas,
				  const struct rcore_pt_arena *arena, struct rcore_malloc *heap)
{
	struct walk walk = {
		.memory = source->memory,
		.heap = heap,
		.top = arena->top,
	};
	return arena == arenas->items ? walk_main(&walk, arena)
				      : walk_arena(&walk, arenas, arena);
}
