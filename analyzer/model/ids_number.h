/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_IDS_NUMBER_H
#define RCORE_MODEL_IDS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ids.h"

/* A thread or fiber that gets a number of a struct rcore_ids. */
struct rcore_who {
	const char *scope; /* numbers begin at 1 in each: "T", "T1" */
	uint64_t address;
	uint64_t object; /* VALUE; 0: unknown, or none yet */
	int age;         /* never decreases */
};

/*
 * Finds the number of `who`, or assigns the next one. Returns false if memory
 * is short.
 */
bool rcore_ids_number(struct rcore_ids *ids, const struct rcore_who *who, size_t *ret);

#endif
