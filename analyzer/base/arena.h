/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_ARENA_H
#define RCORE_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/arena_struct.h"
#include "base/error.h"

/*
 * Memory that is freed all at once. A snapshot and everything that it points to
 * are in one arena, so reports need not know who owns a string. (GNU obstack
 * ends the process if memory runs out.)
 */

/* An all-zero arena is empty and ready. */
void rcore_arena_deinit(struct rcore_arena *arena);

/*
 * Returns `size` zeroed bytes, aligned for any type, or NULL if memory is
 * short.
 */
void *rcore_arena_alloc(struct rcore_arena *arena, size_t size);

/*
 * Returns an array of `count` zeroed elements. As it has room for one more,
 * NULL means that memory is short, even for a count of 0.
 */
static inline void *rcore_arena_array(struct rcore_arena *arena, size_t count, size_t size)
{
	return rcore_arena_alloc(arena, (count + 1) * size);
}

/* Returns a NUL-terminated copy, or NULL if memory is short. */
char *rcore_arena_strndup(struct rcore_arena *arena, const char *text, size_t length);
char *rcore_arena_strdup(struct rcore_arena *arena, const char *text);

/* Returns NULL for NULL. */
char *rcore_arena_copy(struct rcore_arena *arena, const char *text);

char *rcore_arena_printf(struct rcore_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Takes ownership of `err` and keeps its message in *problem, unless that is
 * set. Returns it only if memory is short.
 */
struct rcore_error *rcore_arena_keep_problem(struct rcore_arena *arena, struct rcore_error *err,
					     const char **problem);

#endif
