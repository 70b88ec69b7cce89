/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_CENSUS_H
#define RCORE_MODEL_CENSUS_H

#include "base/arena_struct.h"
#include "model/redaction.h"

#include <stddef.h>
#include <stdint.h>

/* What is in the heap, counted: `rcore heap`. */
struct rcore_census_class {
	/* of the class; "(iseq)" and the like for the VM's own */
	const char *name;
	uint64_t count;
	uint64_t bytes; /* of slots and of C memory */
};

/* Pages whose slots have one size. */
struct rcore_census_pool {
	uint32_t slot_size;
	uint64_t pages, slots, free;
	/* Pages that are in use, but at most a quarter of their slots. */
	uint64_t sparse_pages;
};

struct rcore_heap_census {
	struct rcore_census_class *classes; /* by bytes, the largest first */
	size_t class_count;
	struct rcore_census_pool *pools; /* by slot size */
	size_t pool_count;
	uint64_t objects, bytes;
	/* Objects of extensions, whose C memory is not known. */
	uint64_t unknown_sizes;
	/* Garbage that the collector has found, but not freed yet. */
	uint64_t unswept;
	/* Pages that are not in the core, or could not be found. */
	uint64_t absent_pages;
	struct rcore_redaction redaction;
	struct rcore_arena arena; /* everything above is in it */
};

#endif
