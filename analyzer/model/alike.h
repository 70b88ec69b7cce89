/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_ALIKE_H
#define RCORE_MODEL_ALIKE_H

#include <stddef.h>

#include "base/error.h"
#include "model/snapshot.h"

/* What is compared: `count` items of a snapshot, by their indices. */
struct rcore_comparison {
	size_t count;
	/*
	 * Items that are the same have the same hash. Returns false for an item
	 * that stays alone.
	 */
	bool (*hash)(const struct rcore_snapshot *snapshot, size_t item, uint64_t *ret);
	bool (*is_same)(const struct rcore_snapshot *snapshot, size_t a, size_t b);
};

/* Two or more items that are the same: indices, ascending. */
struct rcore_alike {
	int *items;
	size_t count;
};

/*
 * Finds the items that are the same, ordered by the first item of each list.
 * The lists are in the snapshot's arena. Free the array with free(*ret); it is
 * NULL if there are none. Error: NO_MEMORY.
 */
struct rcore_error *rcore_alike_find(struct rcore_snapshot *snapshot,
				     const struct rcore_comparison *comparison,
				     struct rcore_alike **ret, size_t *ret_count);

enum { RCORE_SIMILAR_LISTED = 100 };

struct rcore_likeness {
	struct rcore_alike same;
	/*
	 * Other items that are similar to these; none if they were merged.
	 * Lists only the first RCORE_SIMILAR_LISTED: if thousands of groups are
	 * similar to each other, full lists would take gigabytes.
	 */
	struct rcore_alike similar;
	size_t similar_count; /* all of them */
	bool differs;         /* `same` has items that are only similar */
};

/*
 * Finds the items that are the same, and which others are similar to them; if
 * `merge`, also the items that are only similar. Items that are the same are
 * similar. Free the array with free(*ret). Error: NO_MEMORY.
 */
struct rcore_error *rcore_likeness_find(struct rcore_snapshot *snapshot,
					const struct rcore_comparison *same,
					const struct rcore_comparison *similar, bool merge,
					struct rcore_likeness **ret, size_t *ret_count);

#endif
