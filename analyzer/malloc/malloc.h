/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MALLOC_MALLOC_H
#define RCORE_MALLOC_MALLOC_H

/*
 * malloc/ finds the chunks of the program's allocator: those in use, with their
 * sizes, and those that are free. It reads glibc's allocator and jemalloc
 * without debug symbols, and finds out from the data how releases differ.
 * It includes target/ and below, never sees an ELF file, and so runs on fake
 * memory in the unit tests. Start here, then read ptmalloc.h or jemalloc.h.
 */

#include "base/error.h"
#include "model/process.h"
#include "target/memory.h"

enum rcore_chunk_state {
	RCORE_CHUNK_USED,
	RCORE_CHUNK_FREE,   /* in a bin, or in a slab */
	RCORE_CHUNK_FAST,   /* free, in a fastbin */
	RCORE_CHUNK_CACHED, /* free, in the cache of a thread */
	RCORE_CHUNK_TOP,    /* free, the rest of an arena */
	RCORE_CHUNK_STATES,
};

enum rcore_chunk_region_kind {
	RCORE_CHUNK_REGION_MAIN,  /* the main arena: brk() */
	RCORE_CHUNK_REGION_ARENA, /* a heap of another arena */
	RCORE_CHUNK_REGION_MMAP,  /* one chunk with a mapping of its own */
	RCORE_CHUNK_REGION_SLAB,  /* of jemalloc: chunks of one size */
	RCORE_CHUNK_REGION_LARGE, /* of jemalloc: one chunk */
};

/* A range of memory without gaps between its chunks. */
struct rcore_chunk_region {
	uint64_t start, end; /* of its chunks */
	uint8_t kind;        /* enum rcore_chunk_region_kind */
	uint32_t chunk_size; /* of each chunk, if it is a slab */
	size_t first, count; /* of rcore_malloc.offset */
};

struct rcore_chunk_sum {
	uint64_t count, bytes;
};

enum rcore_malloc_kind {
	RCORE_MALLOC_GLIBC,
	RCORE_MALLOC_JEMALLOC,
};

/*
 * Sizes are those of whole chunks. A chunk of glibc has a header, so the
 * program asked for about 8 bytes less. jemalloc rounds up to a size class.
 */
struct rcore_malloc {
	/* "glibc", "jemalloc", the name of a file; NULL: unknown. */
	const char *allocator;
	uint8_t kind; /* enum rcore_malloc_kind, if its chunks are known */
	/*
	 * If false, nothing is known about its chunks, `problem` says why, and
	 * everything else is zero.
	 */
	bool is_known;
	/* Why parts are missing; "" if no part is. */
	char problem[200];

	struct rcore_chunk_region *regions; /* by address */
	size_t region_count;

	/*
	 * The chunks of each region by address: offset[i] is the distance from
	 * the start of the region in units of 16 bytes. A chunk takes five
	 * bytes. For a slab, only `state` is used.
	 */
	uint32_t *offset;
	uint8_t *state; /* enum rcore_chunk_state */
	size_t chunk_count;

	struct rcore_chunk_sum sums[RCORE_CHUNK_STATES];
	/*
	 * The chunks among those above that have a mapping of their own or,
	 * with jemalloc, an extent of their own.
	 */
	struct rcore_chunk_sum mmapped;
	size_t arena_count;
	/*
	 * What the arenas got from the kernel; with jemalloc, the pages that
	 * are in use.
	 */
	uint64_t system_bytes;

	/* Private: how many chunks the arrays have room for. */
	size_t chunk_capacity, region_capacity;
};

struct rcore_malloc_range {
	uint64_t start, end;
};

/*
 * What a core has of memory, by address. A small pack can have any number of
 * zeroes, which its segments share, so nobody reads those.
 */
struct rcore_malloc_parts {
	bool is_known; /* otherwise any memory may be there */
	struct rcore_malloc_part {
		uint64_t start, end;
		bool is_zero;
	} * items;
	size_t count, capacity;
};

/* Returns the end of the zeroes at `address`; `address` if none are known. */
uint64_t rcore_malloc_zero_end(const struct rcore_malloc_parts *parts, uint64_t address);

/*
 * Returns the first address, from `address` on and before `end`, that the core
 * has and that may not be zero; UINT64_MAX: none. Looks at no part after `end`,
 * because each of many segments may be asked for.
 */
uint64_t rcore_malloc_next_filled(const struct rcore_malloc_parts *parts, uint64_t address,
				  uint64_t end);

/* Where to look. */
struct rcore_malloc_source {
	struct rcore_memory *memory;
	struct rcore_malloc_parts parts;
	/* The writable data of the module that contains the allocator. */
	const struct rcore_malloc_range *data;
	size_t data_count;
	/*
	 * All mapped memory, and the parts of it that map files, as in
	 * rcore_process.
	 */
	const struct rcore_segment *segments;
	size_t segment_count;
	const struct rcore_mapping *mappings;
	size_t mapping_count;
};

/*
 * Finds all chunks of glibc's allocator. If something cannot be read, its
 * chunks are missing, and ret->problem says so. Free `ret` with
 * rcore_malloc_deinit(). Error: NO_MEMORY.
 */
struct rcore_error *rcore_malloc_init(const struct rcore_malloc_source *source,
				      struct rcore_malloc *ret);

/*
 * Does the same for jemalloc 5.1 to 5.3. If the tree of extents is not found in
 * the data, ret->is_known is false.
 */
struct rcore_error *rcore_jemalloc_init(const struct rcore_malloc_source *source,
					struct rcore_malloc *ret);

void rcore_malloc_deinit(struct rcore_malloc *heap);

/* Returns the size of all chunks that are not in use, in bytes. */
static inline uint64_t rcore_malloc_free_bytes(const struct rcore_malloc *heap)
{
	uint64_t bytes = 0;
	for (int state = 0; state < RCORE_CHUNK_STATES; state++)
		if (state != RCORE_CHUNK_USED)
			bytes += heap->sums[state].bytes;
	return bytes;
}

/* A chunk as a program sees it. */
struct rcore_chunk {
	uint64_t address; /* what malloc() returned */
	uint64_t size;    /* usable bytes from there */
	uint64_t bytes;   /* of the chunk, including its header */
	enum rcore_chunk_state state;
	size_t index; /* of rcore_malloc.offset */
};

/*
 * Finds the chunk that malloc() returned as `address`; if `inside`, the one
 * that contains it. Returns false if there is none, or it is not in use.
 */
bool rcore_malloc_find(const struct rcore_malloc *heap, uint64_t address, bool inside,
		       struct rcore_chunk *ret);

/*
 * Ways to find how much memory follows an address that malloc() returned, if
 * possible without a list of all chunks.
 */
struct rcore_chunk_sizes {
	enum rcore_chunk_sizes_from {
		RCORE_CHUNK_SIZES_HEADER, /* glibc: a word before the chunk */
		RCORE_CHUNK_SIZES_LIST,   /* `heap` */
		/*
		 * An unknown allocator: assumes RCORE_UNKNOWN_CHUNK bytes,
		 * which contain nearly all structs that own something.
		 */
		RCORE_CHUNK_SIZES_GUESS,
	} from;
	struct rcore_malloc heap;
};

enum { RCORE_UNKNOWN_CHUNK = 192 };

/* Returns 0 if malloc() did not return `address`. */
uint64_t rcore_chunk_size(const struct rcore_chunk_sizes *sizes, struct rcore_memory *memory,
			  uint64_t address);

/* Returns chunk `index`, which is below heap->chunk_count and in `region`. */
void rcore_malloc_chunk(const struct rcore_malloc *heap,
			const struct rcore_chunk_region *region, size_t index,
			struct rcore_chunk *ret);

#endif
