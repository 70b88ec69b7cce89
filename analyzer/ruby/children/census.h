/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CENSUS_H
#define RCORE_RUBY_CENSUS_H

#include "model/heap/census.h"
#include "ruby/object/value.h"

/* Counts by class. */
struct rcore_census_row {
	/* RBasic.klass, or rcore_classless_key() if there is none. */
	uint64_t key;
	uint64_t first; /* the lowest address of an object */
	uint8_t type;   /* of that object */
	uint64_t count, bytes;
};

struct rcore_census {
	struct rcore_census_row *items; /* by bytes, the largest first */
	size_t count, capacity;
	struct rcore_census_pools {
		struct rcore_census_pool *items; /* by slot size */
		size_t count, capacity;
	} pools;
	/* As in model/heap/census.h. */
	uint64_t unknown_sizes, unswept, absent_pages;
};

/* Returns the key of an object; `copy` has its slot. */
uint64_t rcore_census_key(struct rcore_ruby *ruby, const void *copy, size_t size);

/*
 * Counts all objects by RBasic.klass, without a graph: of a core, in two
 * threads that read its mapped bytes. Errors: NO_MEMORY; those of
 * rcore_heap_walk() if the list of pages is implausible. Free `ret` with
 * rcore_census_deinit(), also after an error.
 */
struct rcore_error *rcore_census(struct rcore_ruby *ruby, uint64_t objspace,
				 struct rcore_census *ret);
void rcore_census_deinit(struct rcore_census *census);

#endif
