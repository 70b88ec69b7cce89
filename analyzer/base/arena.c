/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 64 << 10 };

struct rcore_arena_block {
	struct rcore_arena_block *next;
	alignas(max_align_t) char bytes[];
};

void rcore_arena_deinit(struct rcore_arena *arena)
{
	struct rcore_arena_block *next;
	for (struct rcore_arena_block *block = arena->block; block; block = next) {
		next = block->next;
		free(block);
	}
	*arena = (struct rcore_arena){0};
}

void *rcore_arena_alloc(struct rcore_arena *arena, size_t size)
{
	size_t align = alignof(max_align_t);
	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + align - 1) & ~(align - 1);
	if (!arena->block || arena->size - arena->used < size) {
		size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;
		struct rcore_arena_block *block = calloc(1, sizeof(*block) + capacity);
		if (!block)
			return NULL;
		block->next = arena->block;
		arena->block = block;
		arena->size = capacity;
		arena->used = 0;
		arena->total += sizeof(*block) + capacity;
	}
	void *result = arena->block->bytes + arena->used;
	arena->used += size;
	return result;
}

char *rcore_arena_strndup(struct rcore_arena *arena, const char *text, size_t length)
{
	char *copy = rcore_arena_alloc(arena, length + 1);
	if (copy)
		memcpy(copy, text, length);
	return copy;
}

char *rcore_arena_strdup(struct rcore_arena *arena, const char *text)
{
	return rcore_arena_strndup(arena, text, strlen(text));
}

char *rcore_arena_copy(struct rcore_arena *arena, const char *text)
{
	return text ? rcore_arena_strdup(arena, text) : NULL;
}

char *rcore_arena_printf(struct rcore_arena *arena, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, args);
	char *text = length < 0 ? NULL : rcore_arena_alloc(arena, (size_t)length + 1);
	if (text)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	va_end(args);
	return text;
}

struct rcore_error *rcore_arena_keep_problem(struct rcore_arena *arena, struct rcore_error *err,
					     const char **problem)
{
	if (!err || err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	if (!*problem)
		*problem = rcore_arena_strdup(arena, err->message);
	rcore_error_free(err);
	return *problem ? NULL : rcore_error_no_memory();
}
