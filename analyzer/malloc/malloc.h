/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MALLOC_MALLOC_H
#define RCORE_MALLOC_MALLOC_H

/*
 * malloc/ finds the chunks of the C library's allocator: those in use, with
 * their sizes, and those that are free. It reads glibc's allocator without
 * debug symbols and without a table of versions: what differs between releases
 * is seen in the data. It includes target/ and below, never sees an ELF file,
 * and so runs on fake memory in the unit tests. Start here, then read
 * ptmalloc.h.
 */

#include "base/error.h"
#include "model/process.h"
#include "target/memory.h"

enum rcore_chunk_state {
	RCORE_CHUNK_USED,
	RCORE_CHUNK_FREE,   /* in a bin */
	RCORE_CHUNK_FAST,   /* free, in a fastbin */
	RCORE_CHUNK_CACHED, /* free, in the cache of a thread */
	RCORE_CHUNK_TOP,    /* free, the rest of an arena */
	RCORE_CHUNK_STATES,
};

enum rcore_chunk_region_kind {
	RCORE_CHUNK_REGION_MAIN,  /* the main arena: brk() */
	RCORE_CHUNK_REGION_ARENA, /* a heap of another arena */
	RCORE_CHUNK_REGION_MMAP,  /* one chunk with a mapping of its own */
};

/* Memory without gaps between its chunks. */
struct rcore_chunk_region {
	uint64_t start, end; /* of its chunks */
	uint8_t kind;        /* enum rcore_chunk_region_kind */
	size_t first, count; /* of rcore_malloc.offset */
};

struct rcore_chunk_sum {
	uint64_t count, bytes;
};

/*
 * Sizes are those of whole chunks, with their headers: what a program asked for
 * is about 8 bytes less.
 */
struct rcore_malloc {
	const char *allocator; /* "glibc", "jemalloc" ... */
	/*
	 * False: nothing is known of its chunks, and `problem` says why. All
	 * else is zero.
	 */
	bool is_known;
	/* Why parts are missing; "" if none is. */
	char problem[200];

	struct rcore_chunk_region *regions; /* by address */
	size_t region_count;

	/*
	 * The chunks of each region by address: offset[i] is the distance from
	 * the start of the region in units of 16 bytes. Five bytes a chunk.
	 */
	uint32_t *offset;
	uint8_t *state; /* enum rcore_chunk_state */
	size_t chunk_count;

	struct rcore_chunk_sum sums[RCORE_CHUNK_STATES];
	struct rcore_chunk_sum mmapped; /* of them, chunks of their own */
	size_t arena_count;
	/* What the arenas have got from the kernel. */
	uint64_t system_bytes;

	/* Private: how much memory there is for chunks. */
	size_t chunk_capacity, region_capacity;
};

struct rcore_malloc_range {
	uint64_t start, end;
};

/* Where to look. */
struct rcore_malloc_source {
	struct rcore_memory *memory;
	/* The writable data of the C library. */
	const struct rcore_malloc_range *data;
	size_t data_count;
	/* All mapped memory, and what of it maps files, as in rcore_process. */
	const struct rcore_segment *segments;
	size_t segment_count;
	const struct rcore_mapping *mappings;
	size_t mapping_count;
};

/*
 * Finds all chunks of glibc's allocator. What cannot be read is missing, and
 * ret->problem says so. Free `ret` with rcore_malloc_deinit(). Error:
 * NO_MEMORY.
 */
struct rcore_error *rcore_malloc_init(const struct rcore_malloc_source *source,
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
	uint64_t bytes;   /* of the chunk, with its header */
	enum rcore_chunk_state state;
	size_t index; /* of rcore_malloc.offset */
};

/*
 * Finds the chunk that malloc() returned as `address`; if `inside`, the one
 * that contains it. Returns false if there is none, or it is not in use.
 */
bool rcore_malloc_find(const struct rcore_malloc *heap, uint64_t address, bool inside,
		       struct rcore_chunk *ret);

/* Returns chunk `index` < heap->chunk_count of `region`, which contains it. */
void rcore_malloc_chunk(const struct rcore_malloc *heap,
			const struct rcore_chunk_region *region, size_t index,
			struct rcore_chunk *ret);

#endif
