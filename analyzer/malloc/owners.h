/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MALLOC_OWNERS_H
#define RCORE_MALLOC_OWNERS_H

#include "malloc/malloc.h"

/*
 * Finds out whom chunks belong to. Nothing in memory says so, but what uses a
 * chunk points to it, or to a chunk that points to it. So each chunk goes to
 * the owner with the shortest chain of pointers to it, and to the first one if
 * several are equally short: a breadth-first search from all owners at once. An
 * owner is a number of the caller's.
 *
 * A word that only looks like a pointer may give a chunk to a wrong owner. Few
 * do: a word must be the very address that malloc() returned. But buffers are
 * full of old pointers of whoever had their memory before. So large chunks are
 * followed last: what a small one leads to is already somebody's then.
 */
enum { RCORE_CHUNK_OWNER_NONE = UINT32_MAX, RCORE_LARGE_CHUNK = 4096 };

struct rcore_chunk_owners {
	uint32_t *owner; /* by rcore_chunk.index */
	/* Private */
	const struct rcore_malloc *heap;
	struct rcore_memory *memory;
	bool inside, is_text;
	uint64_t low, high; /* all chunks are between them */
	/*
	 * Addresses of chunks in the order in which they got owners: small ones
	 * from the start on, large ones from the end.
	 */
	uint64_t *found;
	size_t small, followed_small, large, followed_large;
};

/* Nobody owns anything. Free `ret` with its deinit. Error: NO_MEMORY. */
struct rcore_error *rcore_chunk_owners_init(struct rcore_memory *memory,
					    const struct rcore_malloc *heap,
					    struct rcore_chunk_owners *ret);
void rcore_chunk_owners_deinit(struct rcore_chunk_owners *owners);

/*
 * Gives the chunk that contains `address` to `owner`. What is in it is not
 * followed.
 */
void rcore_chunk_owners_take(struct rcore_chunk_owners *owners, uint64_t address,
			     uint32_t owner);

/* Gives `owner` the chunks that these words point to and that nobody owns. */
void rcore_chunk_owners_give(struct rcore_chunk_owners *owners, const uint64_t *words,
			     size_t count, uint32_t owner);

/* The same for words in memory. What cannot be read is left out. */
void rcore_chunk_owners_give_range(struct rcore_chunk_owners *owners, uint64_t start,
				   uint64_t end, uint32_t owner);

/* The same, for chunks that are text: they are not followed. */
void rcore_chunk_owners_give_text(struct rcore_chunk_owners *owners, uint64_t start,
				  uint64_t end, uint32_t owner);

/* Follows the pointers in all chunks that have an owner. */
void rcore_chunk_owners_follow(struct rcore_chunk_owners *owners);

/*
 * From now on a pointer into the middle of a chunk leads to it, too: a list may
 * link its elements by a member. Chunks that have owners are followed again.
 */
void rcore_chunk_owners_look_inside(struct rcore_chunk_owners *owners);

#endif
