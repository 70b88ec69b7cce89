/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_VARINT_H
#define RCORE_PROFILE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Numbers as LEB128: seven bits per byte, lowest first, as in DWARF and in
 * protocol buffers.
 */
enum { RCORE_VARINT_MAX = 10 };

/*
 * A growing array of bytes. If memory is short once, `no_memory` stays set and
 * all further bytes are dropped.
 */
struct rcore_bytes {
	unsigned char *items;
	size_t count, capacity;
	bool no_memory;
};

/*
 * Empties it and makes room for `size` bytes. Returns NULL if memory is short.
 */
unsigned char *rcore_bytes_reserve(struct rcore_bytes *bytes, size_t size);
void rcore_bytes_append(struct rcore_bytes *bytes, const void *more, size_t size);
void rcore_bytes_varint(struct rcore_bytes *bytes, uint64_t value);
/* Small negative numbers are short, too. */
void rcore_bytes_signed(struct rcore_bytes *bytes, int64_t value);
void rcore_bytes_deinit(struct rcore_bytes *bytes);

/*
 * Bytes to read. Past their end, or at an invalid number, `is_bad` is set, and
 * everything read after that is 0.
 */
struct rcore_cursor {
	const unsigned char *at, *end;
	bool is_bad;
};

uint64_t rcore_cursor_varint(struct rcore_cursor *cursor);
int64_t rcore_cursor_signed(struct rcore_cursor *cursor);
/* Returns the next `size` bytes, or NULL if there are fewer. */
const void *rcore_cursor_take(struct rcore_cursor *cursor, uint64_t size);

static inline size_t rcore_cursor_left(const struct rcore_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

#endif
