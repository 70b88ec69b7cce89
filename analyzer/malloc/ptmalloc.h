/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MALLOC_PTMALLOC_H
#define RCORE_MALLOC_PTMALLOC_H

#include "malloc/chunks.h"

/*
 * glibc's allocator (malloc/malloc.c and arena.c of its sources), as of 2.26 to
 * 2.43, on 64-bit machines.
 *
 * A chunk is
 *
 * 	prev_size	of the chunk before it, if that is free
 * 	size		a multiple of 16; bit 0: the chunk before it is in use,
 * 			bit 1: it has a mapping of its own, bit 2: it is not in
 * 			the main arena
 * 	memory ...	what malloc() returns; up to and with the next chunk's
 * 			prev_size
 *
 * and the next one follows. So a heap can be walked from its first chunk to its
 * last one, `top`. Whether a chunk is free is a bit of the next one. But chunks
 * in fastbins and in threads' caches count as used there, so these lists must
 * be searched.
 *
 * An arena (struct malloc_state) has, with B as the address of its bins:
 *
 * 	mutex, flags, in most releases fastbins
 * 	B - 16		top
 * 	B - 8		last_remainder
 * 	B		127 bins of two words: a ring of free chunks. An empty
 * 			one points to itself: to its address - 16
 * 	B + 2032	a map of the bins, 16 bytes
 * 	B + 2048	next: a ring of all arenas
 * 	B + 2056	next_free, attached_threads
 * 	B + 2072	system_mem, max_system_mem
 *
 * The many words that point to themselves show where the main arena is in
 * libc's data. `next` shows how much there is before B.
 */
enum {
	RCORE_PT_BINS = 127,
	RCORE_PT_TOP = -16, /* everything from B on */
	RCORE_PT_NEXT = 2048,
	RCORE_PT_SYSTEM = 2072,
	RCORE_PT_END = 2088,
	RCORE_PT_FASTBINS = -96,
	RCORE_PT_FASTBIN_COUNT = 10,

	RCORE_CHUNK_ALIGN = 16,
	RCORE_CHUNK_MIN = 32,
	RCORE_CHUNK_MEMORY = 16, /* from a chunk to what malloc() returns */
	RCORE_CHUNK_PREVIOUS_USED = 1,
	RCORE_CHUNK_MMAPPED = 2,
	RCORE_CHUNK_FLAGS = 7,
};

/* A heap of an arena other than the main one is aligned to its largest size. */
#define RCORE_PT_HEAP_SIZE (UINT64_C(64) << 20)

struct rcore_pt_arena {
	uint64_t bins; /* B */
	uint64_t top, top_size;
	uint64_t system_mem;
};

struct rcore_pt_arenas {
	/* The main one first. */
	struct rcore_pt_arena *items;
	size_t count, capacity;
	uint64_t before; /* how many bytes an arena has before B */
};

/*
 * Finds the arenas. Returns an empty list if there is no main arena in the
 * data; has_all is false if the ring of arenas cannot be followed back to the
 * main one.
 */
struct rcore_error *rcore_pt_find_arenas(const struct rcore_malloc_source *source,
					 struct rcore_pt_arenas *ret, bool *has_all);

/* Whether an arena has fastbins, which glibc 2.43 removed. */
static inline bool rcore_pt_has_fastbins(const struct rcore_pt_arenas *arenas)
{
	return arenas->before >= -(RCORE_PT_FASTBINS);
}

/* Reads a chunk's size and flags. Returns false if they cannot be read. */
bool rcore_pt_size(struct rcore_memory *memory, uint64_t chunk, uint64_t *size,
		   unsigned *flags);

/*
 * Adds the chunks of an arena. If a chunk is not valid, the walk of its heap
 * ends there, and heap->problem says so. Error: NO_MEMORY.
 */
struct rcore_error *rcore_pt_walk(const struct rcore_malloc_source *source,
				  const struct rcore_pt_arenas *arenas,
				  const struct rcore_pt_arena *arena,
				  struct rcore_malloc *heap);

/* Adds the chunks that have their own mappings; `heap` is sorted. */
struct rcore_error *rcore_pt_find_mmapped(const struct rcore_malloc_source *source,
					  struct rcore_malloc *heap);

/*
 * Changes the states of chunks that are in a fastbin or in a thread's cache.
 * `heap` is sorted.
 */
void rcore_pt_mark_fast(const struct rcore_malloc_source *source,
			const struct rcore_pt_arenas *arenas, struct rcore_malloc *heap);
void rcore_pt_mark_cached(const struct rcore_malloc_source *source, struct rcore_malloc *heap);

#endif
