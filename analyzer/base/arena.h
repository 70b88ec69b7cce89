/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_ARENA_H
#define RCORE_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/arena_struct.h"

/*
 * Memory that is freed all at once. A snapshot and everything it points to live
 * in one arena, so no report has to know who owns a string. (GNU obstack ends
 * the process when memory runs out.)
 */

/* An all-zero arena is empty and ready. */
void rcore_arena_deinit(struct rcore_arena *arena);

/* `size` zeroed bytes, aligned for any type; NULL when memory is short. */
void *rcore_arena_alloc(struct rcore_arena *arena, size_t size);

/* A NUL-terminated copy; NULL when memory is short. */
char *rcore_arena_strndup(struct rcore_arena *arena, const char *text, size_t length);
char *rcore_arena_strdup(struct rcore_arena *arena, const char *text);

char *rcore_arena_printf(struct rcore_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
