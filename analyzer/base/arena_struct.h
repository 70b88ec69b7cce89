/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_ARENA_STRUCT_H
#define RCORE_BASE_ARENA_STRUCT_H

#include <stddef.h>

/* Owns the memory of a snapshot. All members are private. */
struct rcore_arena {
	struct rcore_arena_block *block;
	size_t used, size; /* bytes of the newest block */
	size_t total;      /* bytes that were allocated so far */
};

#endif
