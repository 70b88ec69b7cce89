/* SPDX-License-Identifier: MIT */
#ifndef FAIL_MALLOC_H
#define FAIL_MALLOC_H

/*
 * Replaces malloc() in a test program, and in its libraries, by one that can
 * fail. Include it in one file of the program, and not under ASan, which has
 * its own.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static struct {
	size_t fail_at, count;
	size_t fail_count; /* how many fail, one after the other */
} fail_malloc;

/*
 * Lets `count` allocations fail, from the `first` one on, counted from 1. 0:
 * none fails any more. Returns whether one has failed since the last call.
 */
static inline bool fail_malloc_from(size_t first, size_t count)
{
	bool has_failed = fail_malloc.fail_at && fail_malloc.count >= fail_malloc.fail_at;
	fail_malloc.fail_at = first;
	fail_malloc.fail_count = count;
	fail_malloc.count = 0;
	return has_failed;
}

static bool fail_malloc_fails(void)
{
	if (!fail_malloc.fail_at || ++fail_malloc.count < fail_malloc.fail_at ||
	    fail_malloc.count - fail_malloc.fail_at >= fail_malloc.fail_count)
		return false;
	errno = ENOMEM;
	return true;
}

#define FAIL_MALLOC_API __attribute__((visibility("default")))

FAIL_MALLOC_API void *malloc(size_t size)
{
	return fail_malloc_fails() ? NULL : __libc_malloc(size);
}

FAIL_MALLOC_API void *calloc(size_t count, size_t size)
{
	return fail_malloc_fails() ? NULL : __libc_calloc(count, size);
}

FAIL_MALLOC_API void *realloc(void *block, size_t size)
{
	return fail_malloc_fails() ? NULL : __libc_realloc(block, size);
}

FAIL_MALLOC_API void *reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(block, bytes);
}

#endif
