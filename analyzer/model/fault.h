/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_FAULT_H
#define RCORE_MODEL_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/access.h"

/* A slot of the GC heap. */
struct rcore_slot {
	uint64_t address; /* its VALUE; 0: none */
	const char *
		type; /* "T_STRING"; "T_NONE": it is free, "T_MOVED": compaction took its object away */
};

/* A register of the code that faulted, which holds an object that is none any more. */
struct rcore_held_slot {
	const char *name; /* "rdi" */
	struct rcore_slot slot;
};

enum rcore_place {
	RCORE_PLACE_UNKNOWN,
	RCORE_PLACE_NULL, /* the first page, and a little more: a field of a NULL pointer */
	RCORE_PLACE_NON_CANONICAL, /* no address at all, but some other bytes taken for one */
	RCORE_PLACE_KERNEL,
	RCORE_PLACE_GUARD, /* below a machine stack */
	RCORE_PLACE_SLOT,
	RCORE_PLACE_CODE,
	RCORE_PLACE_MAPPED,
	RCORE_PLACE_UNMAPPED,
};

enum { RCORE_HELD_SLOTS = 4 };

/* What the instruction that faulted wanted, and of what. */
struct rcore_fault_facts {
	enum rcore_access access;
	const char *access_source; /* how that is known; NULL: it is not */
	bool has_address;
	uint64_t
		address; /* of the fault: the signal's, or (where that has none) the instruction's */
	enum rcore_place place;
	const char *text;       /* "NULL + 0x28", "a free slot (T_NONE) of the GC heap" */
	struct rcore_slot slot; /* that the address lies in */
	struct rcore_held_slot held[RCORE_HELD_SLOTS];
	size_t held_count;
};

#endif
