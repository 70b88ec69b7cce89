/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_C_ROOTS_H
#define RCORE_SESSION_C_ROOTS_H

#include "malloc/malloc.h"
#include "model/process.h"

/*
 * Memory other than chunks and objects that may refer to a chunk. Segments and
 * stacks may overlap: in a hostile core, or if stacks share a mapping. Each
 * word is in one range of each kind only, so that it is read only once for it.
 */
struct rcore_c_ranges {
	struct rcore_malloc_range *items;
	size_t count, capacity;
};

/* Returns false if memory is short, as all functions here do. */
bool rcore_c_ranges_add(struct rcore_c_ranges *ranges, uint64_t start, uint64_t end);

/* Sorts the ranges and joins those that overlap or touch. */
void rcore_c_ranges_join(struct rcore_c_ranges *ranges);

/*
 * Adds what is saved of the stack of each thread, from its stack pointer to the
 * end of the mapping: thread-local storage is above the outermost frame. If
 * another thread's stack pointer is there, the range ends at it.
 */
bool rcore_c_stacks(const struct rcore_process *process, struct rcore_c_ranges *ret);

/* Adds what is saved of writable segments, except `known`, which is joined. */
bool rcore_c_mappings(const struct rcore_process *process, const struct rcore_c_ranges *known,
		      struct rcore_c_ranges *ret);

#endif
