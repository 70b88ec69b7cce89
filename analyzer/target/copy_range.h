/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_COPY_RANGE_H
#define RCORE_TARGET_COPY_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Copies the bytes of file `from` in [start, end) to file `to`, at offsets that
 * are `shift` greater. Holes stay holes, and the files share blocks if the file
 * system supports it. Returns 0 or errno; EIO if `from` ends before `end`.
 */
int rcore_copy_range(int from, uint64_t start, uint64_t end, int to, uint64_t shift);

/* Writes all of `bytes` at `offset`. Returns 0 or errno. */
int rcore_write_at(int to, const void *bytes, uint64_t size, uint64_t offset);

/* Whether `size` bytes, at least one, are zero: a hole can replace them. */
static inline bool rcore_is_zero(const void *bytes, size_t size)
{
	const char *first = bytes;
	return !first[0] && !memcmp(first, first + 1, size - 1);
}

#endif
