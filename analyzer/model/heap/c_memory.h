/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_C_MEMORY_H
#define RCORE_MODEL_C_MEMORY_H

#include "base/arena_struct.h"
#include "model/heap/heap_object.h"
#include "model/redaction.h"

/* What owns the memory that malloc() has in use: `rcore heap malloc`. */

enum rcore_c_owner_kind {
	RCORE_C_OWNER_CLASS,    /* objects of a class */
	RCORE_C_OWNER_DATA,     /* the static data of a module */
	RCORE_C_OWNER_PAGES,    /* the pages of the GC heap itself */
	RCORE_C_OWNER_STACKS,   /* what only a machine stack points to */
	RCORE_C_OWNER_MAPPINGS, /* what other memory points to */
	RCORE_C_OWNER_NONE,     /* nothing points to it */
	RCORE_C_OWNER_KINDS,
};

struct rcore_c_owner_row {
	uint8_t kind; /* enum rcore_c_owner_kind */
	/* Of a class, or the file name of a module; otherwise NULL. */
	const char *name;
	uint64_t objects; /* those that own memory; 0: no class */
	uint64_t chunks, bytes;
};

struct rcore_c_owner_object {
	struct rcore_heap_object object;
	uint64_t chunks, bytes;
};

struct rcore_c_memory {
	/* By bytes, the largest first; at most as many as asked for. */
	struct rcore_c_owner_row *rows;
	size_t row_count;
	size_t all_rows;
	/* The objects that own most. */
	struct rcore_c_owner_object *objects;
	size_t object_count;
	/* Of chunks in use: what has an owner, and all. */
	uint64_t owned_bytes, bytes;
	struct rcore_heap_gaps gaps;
	struct rcore_redaction redaction;
	struct rcore_arena arena; /* everything above is in it */
};

#endif
