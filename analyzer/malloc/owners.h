/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MALLOC_OWNERS_H
#define RCORE_MALLOC_OWNERS_H

#include "malloc/malloc.h"

/*
 * Finds the owners of chunks. Nothing in memory names them, but the user of a
 * chunk points to it, or to a chunk that points to it. So each chunk gets the
 * owner with the shortest chain of pointers to it, or the first owner if
 * several chains are equally short: a breadth-first search from all owners at
 * once. The caller identifies each owner by a number.
 *
 * A word that only looks like a pointer may lead to a wrong owner. This is
 * rare, because a word counts only if it is exactly an address that malloc()
 * returned. But large buffers often contain stale pointers of the memory's
 * previous user. So large chunks are followed last, after the chunks that small
 * ones lead to have their owners.
 */
enum { RCORE_CHUNK_OWNER_NONE = UINT32_MAX, RCORE_LARGE_CHUNK = 4096 };

struct rcore_chunk_owners {
	uint32_t *owner; /* by rcore_chunk.index */
	/* Private */
	const struct rcore_malloc *heap;
	struct rcore_memory *memory;
	const struct rcore_malloc_parts *parts;
	bool inside, is_last;
	uint64_t low, high; /* all chunks are between these addresses */
	/*
	 * Addresses of chunks in the order in which they got owners: small ones
	 * from the start on, large ones from the end.
	 */
	uint64_t *found;
	size_t small, followed_small, large, followed_large;
};

/*
 * Begins without owners. `parts` must outlive `ret`. Free `ret` with
 * rcore_chunk_owners_deinit(). Error: NO_MEMORY.
 */
struct rcore_error *rcore_chunk_owners_init(struct rcore_memory *memory,
					    const struct rcore_malloc_parts *parts,
					    const struct rcore_malloc *heap,
					    struct rcore_chunk_owners *ret);
void rcore_chunk_owners_deinit(struct rcore_chunk_owners *owners);

/*
 * Makes `owner` the owner of the chunk that contains `address`. Does not follow
 * the chunk's content.
 */
void rcore_chunk_owners_take(struct rcore_chunk_owners *owners, uint64_t address,
			     uint32_t owner);

/*
 * Makes `owner` the owner of each chunk that one of these words points to and
 * that has no owner yet.
 */
void rcore_chunk_owners_give(struct rcore_chunk_owners *owners, const uint64_t *words,
			     size_t count, uint32_t owner);

/* Does the same for words in memory. Skips what cannot be read. */
void rcore_chunk_owners_give_range(struct rcore_chunk_owners *owners, uint64_t start,
				   uint64_t end, uint32_t owner);

/*
 * Does the same for chunks that contain no pointers to other chunks, such as
 * text: they are not followed.
 */
void rcore_chunk_owners_give_last(struct rcore_chunk_owners *owners, uint64_t start,
				  uint64_t end, uint32_t owner);

/* Follows the pointers in all chunks that have an owner. */
void rcore_chunk_owners_follow(struct rcore_chunk_owners *owners);

/*
 * From now on, a pointer into the middle of a chunk leads to it, too, because a
 * list may link its elements by a member. Follows the chunks that have owners
 * again.
 */
void rcore_chunk_owners_look_inside(struct rcore_chunk_owners *owners);

#endif
