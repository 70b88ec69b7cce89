/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MALLOC_CHUNKS_H
#define RCORE_MALLOC_CHUNKS_H

#include "malloc/malloc.h"

/* The readers of allocators fill a struct rcore_malloc with these functions. */

/* Sets heap->problem if it is empty. */
void rcore_malloc_problem(struct rcore_malloc *heap, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Appends a region, and chunks to the last region. Return false if memory is
 * short.
 */
bool rcore_malloc_add_region(struct rcore_malloc *heap, uint64_t start, uint64_t end,
			     enum rcore_chunk_region_kind kind);
bool rcore_malloc_add_chunk(struct rcore_malloc *heap, uint64_t chunk);

/*
 * Sorts the regions. Only a corrupt heap has regions that overlap: keeps the
 * first of them.
 */
void rcore_malloc_sort(struct rcore_malloc *heap);

/* Computes the totals. Call it after the last change of the chunks' states. */
void rcore_malloc_add_up(struct rcore_malloc *heap);

/*
 * Reads a range. If the core lacks a part of it, zeroes that part and returns
 * false.
 */
bool rcore_malloc_copy(struct rcore_memory *memory, uint64_t start, uint64_t end, void *bytes);

#endif
