/* SPDX-License-Identifier: MIT */
#ifndef RCORE_HEAP_TRAILS_H
#define RCORE_HEAP_TRAILS_H

#include "heap/path.h"

/*
 * What two or three heaps have in common: not addresses, as these change, but
 * by which paths objects are reachable. A trail is a path without indices, and
 * with classes in place of objects: "constant ORDERS of App, an element of an
 * Array, @customer of an Order, a Customer". What grew is a trail with more
 * objects at its end than before.
 *
 * If the same step occurs again on a path, as in a linked list, the trail
 * returns to where it first was, so it is as short for the last element as for
 * the second. Writers write the path of each trail, so it has a limit.
 */
enum { RCORE_TRAIL_SIDES = 3 };

struct rcore_trail {
	/* The trail of the step before; RCORE_HEAP_NONE: this is a root. */
	uint32_t before;
	/*
	 * How it continues: a label without its index, and with a common number
	 * for its name. For a root: its kind and the common number.
	 */
	uint32_t step;
	uint32_t klass; /* a common number, or RCORE_HEAP_NONE */
	/* How many steps it has, at most RCORE_TRAIL_DEPTH. */
	uint32_t depth;
	/* The objects whose paths end here, for each heap. */
	struct rcore_trail_sum {
		uint64_t count, bytes;
	} sides[RCORE_TRAIL_SIDES];
};

struct rcore_trails {
	struct rcore_trail *items; /* each after the one before it */
	size_t count, capacity;
	/*
	 * There are more trails than RCORE_TRAIL_LIMIT, or one is longer than
	 * RCORE_TRAIL_DEPTH: the rest counts as the trail of its referrer.
	 */
	bool is_cut;
	/* Private: a hash table of numbers + 1. */
	uint32_t *table;
	size_t table_size;
};

enum { RCORE_TRAIL_LIMIT = 1 << 22, RCORE_TRAIL_DEPTH = 128 };

/* A heap, with numbers that mean the same in all heaps that are compared. */
struct rcore_trail_heap {
	const struct rcore_heap_paths *paths;
	const uint32_t *klass; /* by node: its class, or RCORE_HEAP_NONE */
	/* By the index of a name; at most RCORE_EDGE_NUMBER_MAX. */
	const uint32_t *name;
};

/*
 * Adds all reachable objects of a heap to `side`. All zeroes is an empty set;
 * free it with rcore_trails_deinit(). If `trail` is not NULL, it gets the
 * number of the trail of each reachable node. Error: NO_MEMORY.
 */
struct rcore_error *rcore_trails_add(struct rcore_trails *trails,
				     const struct rcore_trail_heap *heap, unsigned side,
				     uint32_t *trail);
void rcore_trails_deinit(struct rcore_trails *trails);

/* A trail at whose end there are more objects than before. */
struct rcore_growth {
	uint32_t trail;
	uint64_t count; /* how many more */
	/*
	 * How many more bytes, with those of trails that continue this one and
	 * grew with it.
	 */
	int64_t bytes;
	/* How many trails grew with it. */
	uint32_t followers;
};

struct rcore_growths {
	struct rcore_growth *items; /* by count, most first */
	size_t count, capacity;
};

/*
 * Finds the trails that grew from side 0 to side 1 and, if there are three
 * sides, again from side 1 to side 2. `count` and `bytes` are from the first
 * side to the last. Leaves out those that grew only because the trail before
 * them did: each new order brings its title. Free `ret->items`. Error:
 * NO_MEMORY.
 */
struct rcore_error *rcore_trails_growth(const struct rcore_trails *trails, unsigned sides,
					struct rcore_growths *ret);

#endif
