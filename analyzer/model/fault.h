/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_FAULT_H
#define RCORE_MODEL_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an instruction does to memory. */
enum rcore_access {
	RCORE_ACCESS_UNKNOWN,
	RCORE_ACCESS_READ,
	RCORE_ACCESS_WRITE, /* or reads and writes one place */
	RCORE_ACCESS_EXECUTE,
};

/* What an address lies in. */
enum rcore_place {
	RCORE_PLACE_UNKNOWN,
	RCORE_PLACE_NULL, /* near 0: a field of a NULL pointer */
	/* Not an address at all: other bytes were used as one. */
	RCORE_PLACE_NON_CANONICAL,
	RCORE_PLACE_KERNEL,
	RCORE_PLACE_GUARD, /* the guard pages below a machine stack */
	RCORE_PLACE_SLOT,  /* a slot of the GC heap */
	RCORE_PLACE_CODE,
	RCORE_PLACE_MAPPED, /* other memory */
	RCORE_PLACE_UNMAPPED,
};

/* A slot of the GC heap. */
struct rcore_slot {
	uint64_t address; /* its VALUE; 0: none */
	/*
	 * "T_STRING". "T_NONE": the slot is free; "T_MOVED": compaction moved
	 * its object.
	 */
	const char *type;
};

/*
 * A register of the code that faulted. It points to a slot that no longer holds
 * an object.
 */
struct rcore_held_slot {
	const char *name; /* "rdi" */
	struct rcore_slot slot;
};

enum { RCORE_HELD_SLOTS = 4 };

/* What the instruction that faulted did, and where. */
struct rcore_fault_facts {
	enum rcore_access access;
	const char *access_source; /* how that is known; NULL: unknown */
	bool has_address;
	uint64_t address; /* from the signal, otherwise from the instruction */
	enum rcore_place place;
	/* "NULL + 0x28", "a free slot (T_NONE) of the GC heap". */
	const char *text;
	struct rcore_slot slot; /* that contains the address */
	struct rcore_held_slot held[RCORE_HELD_SLOTS];
	size_t held_count;
};

#endif
