/* SPDX-License-Identifier: MIT */
#include "malloc/ptmalloc.h"

/*
 * If a struct does not start where malloc() returned a chunk, the word before
 * it is not a plausible size.
 */
static uint64_t from_header(struct rcore_memory *memory, uint64_t address)
{
	uint64_t size;
	unsigned flags;
	if (address % RCORE_CHUNK_ALIGN ||
	    !rcore_pt_size(memory, address - RCORE_CHUNK_MEMORY, &size, &flags))
		return 0;
	return size % RCORE_CHUNK_ALIGN || size < RCORE_CHUNK_MIN || size > UINT64_C(1) << 40
		       ? 0
		       : size - (RCORE_CHUNK_MEMORY - 8);
}

uint64_t rcore_chunk_size(const struct rcore_chunk_sizes *sizes, struct rcore_memory *memory,
			  uint64_t address)
{
	struct rcore_chunk chunk;
	switch (sizes ? sizes->from : RCORE_CHUNK_SIZES_HEADER) {
	case RCORE_CHUNK_SIZES_LIST:
		return rcore_malloc_find(&sizes->heap, address, false, &chunk) ? chunk.size : 0;
	case RCORE_CHUNK_SIZES_GUESS:
		return RCORE_UNKNOWN_CHUNK;
	default:
		return from_header(memory, address);
	}
}
