/* SPDX-License-Identifier: MIT */
#include "malloc/owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/*
 * If this many pages in a row are absent, assumes that the rest is absent, too.
 */
enum { BLOCK = 16384, PAGE = 4096, ABSENT_LIMIT = 4096 };

struct rcore_error *rcore_chunk_owners_init(struct rcore_memory *memory,
					    const struct rcore_malloc_parts *parts,
					    const struct rcore_malloc *heap,
					    struct rcore_chunk_owners *ret)
{
	*ret = (struct rcore_chunk_owners){
		.heap = heap,
		.memory = memory,
		.parts = parts,
		.owner = rcore_calloc(heap->chunk_count, sizeof(*ret->owner)),
		.found = rcore_calloc(heap->chunk_count, sizeof(*ret->found)),
	};
	if (!ret->owner || !ret->found)
		return rcore_error_no_memory();
	memset(ret->owner, 0xff, heap->chunk_count * sizeof(*ret->owner));
	if (heap->region_count) {
		ret->low = heap->regions[0].start;
		ret->high = heap->regions[heap->region_count - 1].end;
	}
	return NULL;
}

void rcore_chunk_owners_deinit(struct rcore_chunk_owners *owners)
{
	free(owners->owner);
	free(owners->found);
	memset(owners, 0, sizeof(*owners));
}

/* Returns false if the address is in no chunk, or in one that has an owner. */
static bool set(struct rcore_chunk_owners *owners, uint64_t address, bool inside,
		uint32_t owner, struct rcore_chunk *chunk)
{
	if (address < owners->low || address >= owners->high ||
	    !rcore_malloc_find(owners->heap, address, inside, chunk) ||
	    owners->owner[chunk->index] != RCORE_CHUNK_OWNER_NONE)
		return false;
	owners->owner[chunk->index] = owner;
	return true;
}

static void note(struct rcore_chunk_owners *owners, const struct rcore_chunk *chunk)
{
	if (owners->is_last)
		return;
	if (chunk->bytes < RCORE_LARGE_CHUNK)
		owners->found[owners->small++] = chunk->address;
	else
		owners->found[owners->heap->chunk_count - ++owners->large] = chunk->address;
}

void rcore_chunk_owners_take(struct rcore_chunk_owners *owners, uint64_t address,
			     uint32_t owner)
{
	struct rcore_chunk chunk;
	set(owners, address, true, owner, &chunk);
}

void rcore_chunk_owners_give(struct rcore_chunk_owners *owners, const uint64_t *words,
			     size_t count, uint32_t owner)
{
	struct rcore_chunk chunk;
	for (size_t i = 0; i < count; i++)
		if (set(owners, words[i], owners->inside, owner, &chunk))
			note(owners, &chunk);
}

void rcore_chunk_owners_give_range(struct rcore_chunk_owners *owners, uint64_t start,
				   uint64_t end, uint32_t owner)
{
	uint64_t words[BLOCK / sizeof(uint64_t)];
	size_t size, absent = 0;
	start = (start + 7) & ~UINT64_C(7);
	for (; start < end && end - start >= sizeof(*words) && absent < ABSENT_LIMIT;
	     start += size) {
		uint64_t zero_end = rcore_malloc_zero_end(owners->parts, start);
		if (zero_end - start >= PAGE) {
			size = (zero_end < end ? zero_end - start : end - start) & ~UINT64_C(7);
			absent = 0;
			continue;
		}
		/*
		 * Ends each read at a page, so that an absent page does not
		 * hide another one.
		 */
		size = BLOCK - start % PAGE;
		if (size > end - start)
			size = (end - start) & ~UINT64_C(7);
		if (!rcore_read(owners->memory, start, words, size)) {
			rcore_chunk_owners_give(owners, words, size / sizeof(*words), owner);
			absent = 0;
			continue;
		}
		if (size > PAGE - start % PAGE)
			size = PAGE - start % PAGE;
		if (rcore_read(owners->memory, start, words, size)) {
			absent++;
			continue;
		}
		rcore_chunk_owners_give(owners, words, size / sizeof(*words), owner);
		absent = 0;
	}
}

void rcore_chunk_owners_give_last(struct rcore_chunk_owners *owners, uint64_t start,
				  uint64_t end, uint32_t owner)
{
	owners->is_last = true;
	rcore_chunk_owners_give_range(owners, start, end, owner);
	owners->is_last = false;
}

static void follow(struct rcore_chunk_owners *owners, uint64_t address)
{
	struct rcore_chunk chunk;
	if (rcore_malloc_find(owners->heap, address, false, &chunk))
		rcore_chunk_owners_give_range(owners, address, address + chunk.size,
					      owners->owner[chunk.index]);
}

void rcore_chunk_owners_follow(struct rcore_chunk_owners *owners)
{
	size_t large;
	do {
		while (owners->followed_small < owners->small)
			follow(owners, owners->found[owners->followed_small++]);
		/* Follows only the chunks that had owners before this call. */
		large = owners->large;
		while (owners->followed_large < large)
			follow(owners, owners->found[owners->heap->chunk_count -
						     ++owners->followed_large]);
	} while (owners->followed_small < owners->small || large < owners->large);
}

void rcore_chunk_owners_look_inside(struct rcore_chunk_owners *owners)
{
	owners->inside = true;
	owners->followed_small = owners->followed_large = 0;
}
