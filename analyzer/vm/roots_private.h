/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_ROOTS_PRIVATE_H
#define RCORE_VM_ROOTS_PRIVATE_H

#include "vm/roots.h"

/* Roots that are being collected. */
struct rcore_roots {
	struct rcore_ruby *ruby;
	const struct rcore_roots_source *source;
	struct rcore_heap *heap;
	size_t root_capacity, name_capacity;
};

/* Each list has at most this many members. */
enum { RCORE_ROOTS_LIMIT = 1 << 24 };

/*
 * Adds a value if it is an object of the heap; ignores all other values.
 * Returns false if memory is short.
 */
bool rcore_roots_add(struct rcore_roots *roots, uint64_t value,
		     const struct rcore_heap_root *like);

/* Adds a name; *ret is its index. Returns false if memory is short. */
bool rcore_roots_name(struct rcore_roots *roots, const char *name, uint32_t *ret);

/* Sets heap->problem to why roots are missing, unless it is set already. */
void rcore_roots_problem(struct rcore_roots *roots, const char *problem);

/*
 * A walk over a list that may have a cycle (Brent's algorithm): an earlier
 * entry, and the number of steps after which a later entry replaces it.
 */
struct rcore_roots_walk {
	uint64_t mark;
	uint32_t steps, lap;
};

/*
 * Whether the walk must end: it was at this entry before, or there are too many
 * entries.
 */
static inline bool rcore_roots_repeats(struct rcore_roots_walk *walk, uint64_t entry)
{
	if (entry == walk->mark || walk->lap > RCORE_ROOTS_LIMIT)
		return true;
	if (walk->steps++ == walk->lap) {
		walk->mark = entry;
		walk->steps = 0;
		walk->lap = walk->lap * 2 + 1;
	}
	return false;
}

/* Global variables. Error: NO_MEMORY. */
struct rcore_error *rcore_roots_globals(struct rcore_roots *roots);

/* What at_exit registered. Error: NO_MEMORY. */
struct rcore_error *rcore_roots_ending(struct rcore_roots *roots);

/* Machine stacks and registers. Error: NO_MEMORY. */
struct rcore_error *rcore_roots_machine(struct rcore_roots *roots);

#endif
