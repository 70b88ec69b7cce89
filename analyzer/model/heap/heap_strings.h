/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_HEAP_STRINGS_H
#define RCORE_MODEL_HEAP_STRINGS_H

#include "model/heap/heap_object.h"
#include "model/printed.h"

/* `rcore heap strings`: reachable Strings and Arrays with equal contents. */

enum { RCORE_SHOWN_HOLDERS = 4 };

/* What refers to objects of a group, by its class and how it does. */
struct rcore_holder {
	const char *klass, *how;
	uint64_t count; /* of references */
};

struct rcore_duplicated {
	uint64_t count, bytes; /* of all of the group */
	/* Bytes that would be saved if only the smallest one were left. */
	uint64_t wasted;
	struct rcore_heap_object first;
	struct rcore_holder holders[RCORE_SHOWN_HOLDERS]; /* by count */
	size_t holder_count, all_holders;
	struct rcore_heap_route route; /* to the first one */
};

struct rcore_duplicated_sum {
	uint64_t count, bytes; /* of all objects of the kind */
	uint64_t duplicates;   /* without one of each group */
	uint64_t wasted;
};

struct rcore_heap_strings {
	struct rcore_duplicated_sum strings, arrays;
	/* By wasted bytes, as many as print.count. */
	struct rcore_duplicated *groups;
	size_t all_groups;
	uint64_t unread; /* objects whose contents could not be read */
	struct rcore_heap_gaps gaps;
	/* The inspect of the first one of each group; its arena has all. */
	struct rcore_print print;
};

#endif
