/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_HEAP_DIFF_H
#define RCORE_MODEL_HEAP_DIFF_H

#include "model/heap/heap_object.h"

/* `rcore heap diff`: what grew from core to core, among reachable objects. */

enum { RCORE_DIFF_SIDES = 3 };

struct rcore_diff_sum {
	uint64_t count, bytes;
};

struct rcore_diff_class {
	const char *name;
	struct rcore_diff_sum sides[RCORE_DIFF_SIDES];
};

/* A step of a path, without indices. */
struct rcore_diff_step {
	/* The root; then "@items", "an element" ... */
	const char *how;
	const char *klass; /* of what it leads to */
};

/* Objects that are reachable by the same path. */
struct rcore_diff_growth {
	uint64_t count; /* how many more */
	/* Of them, and of what came with them. */
	int64_t bytes;
	uint32_t followers; /* paths that continue this one and grew with it */
	struct rcore_diff_sum sides[RCORE_DIFF_SIDES];
	struct rcore_diff_step *steps;
	size_t step_count;
};

struct rcore_heap_diff {
	size_t side_count; /* 2 or 3 */
	struct rcore_diff_side {
		const char *source; /* the core */
		/* Why not to compare it with the core before it; or NULL. */
		const char *doubt;
		struct rcore_diff_sum sum;
		/* Chunks that malloc() has in use; NULL: unknown. */
		const struct rcore_diff_sum *c_memory;
		struct rcore_heap_gaps gaps;
	} sides[RCORE_DIFF_SIDES];
	struct rcore_diff_class *classes; /* that grew, by bytes */
	size_t class_count, all_classes;
	struct rcore_diff_growth *growths; /* by count */
	size_t growth_count, all_growths;
	/* There were too many paths: the rest counts as shorter ones. */
	bool is_cut;
	struct rcore_redaction redaction;
	struct rcore_arena arena; /* everything above is in it */
};

#endif
