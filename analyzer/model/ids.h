/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_IDS_H
#define RCORE_MODEL_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/api.h"

/*
 * The numbers of threads and fibers (the 3 of "T1.F3") from one look at a process to the next: who was
 * seen before keeps its number, and nobody gets that of another. CRuby gives them no serial number before
 * 4.0, so that one is known by its struct and its object, and by not having become younger; where both are
 * used again for another in the same state, the two cannot be told apart.
 */
struct rcore_ids;

/* NULL when memory is short. */
RCORE_API struct rcore_ids *rcore_ids_open(void);
RCORE_API void rcore_ids_close(struct rcore_ids *ids); /* NULL-safe */

struct rcore_who {
	const char *scope; /* numbers begin at 1 in each: "T", "T1" */
	uint64_t address;
	uint64_t object; /* VALUE; 0: unknown, or none yet */
	int age;         /* never falls */
};

/* false: memory is short. */
bool rcore_ids_number(struct rcore_ids *ids, const struct rcore_who *who, size_t *ret);

#endif
