/* SPDX-License-Identifier: MIT */
#include "profile/varint.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct rcore_bytes *bytes, size_t size)
{
	enum { FIRST = 4096 };
	if (bytes->no_memory)
		return false;
	if (bytes->items && bytes->capacity - bytes->count >= size)
		return true;
	size_t wanted = bytes->capacity ? bytes->capacity * 2 : FIRST;
	while (wanted - bytes->count < size)
		wanted *= 2;
	unsigned char *grown = realloc(bytes->items, wanted);
	bytes->no_memory = !grown;
	if (!grown)
		return false;
	bytes->items = grown;
	bytes->capacity = wanted;
	return true;
}

unsigned char *rcore_bytes_reserve(struct rcore_bytes *bytes, size_t size)
{
	bytes->count = 0;
	return make_room(bytes, size) ? bytes->items : NULL;
}

void rcore_bytes_append(struct rcore_bytes *bytes, const void *more, size_t size)
{
	if (!size || !make_room(bytes, size))
		return;
	memcpy(bytes->items + bytes->count, more, size);
	bytes->count += size;
}

void rcore_bytes_varint(struct rcore_bytes *bytes, uint64_t value)
{
	unsigned char coded[RCORE_VARINT_MAX];
	size_t size = 0;
	for (; value >= 0x80; value >>= 7)
		coded[size++] = (unsigned char)(value | 0x80);
	coded[size++] = (unsigned char)value;
	rcore_bytes_append(bytes, coded, size);
}

void rcore_bytes_signed(struct rcore_bytes *bytes, int64_t value)
{
	rcore_bytes_varint(bytes, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void rcore_bytes_deinit(struct rcore_bytes *bytes)
{
	free(bytes->items);
	*bytes = (struct rcore_bytes){0};
}

static uint64_t fail(struct rcore_cursor *cursor)
{
	cursor->is_bad = true;
	cursor->at = cursor->end;
	return 0;
}

uint64_t rcore_cursor_varint(struct rcore_cursor *cursor)
{
	enum { LAST_SHIFT = 63 };
	uint64_t value = 0;
	for (unsigned shift = 0; shift <= LAST_SHIFT; shift += 7) {
		if (cursor->at == cursor->end)
			return fail(cursor);
		unsigned char byte = *cursor->at++;
		/* Only one of the 64 bits is left for the tenth byte. */
		if (shift == LAST_SHIFT && byte > 1)
			return fail(cursor);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	return fail(cursor);
}

int64_t rcore_cursor_signed(struct rcore_cursor *cursor)
{
	uint64_t value = rcore_cursor_varint(cursor);
	return (int64_t)((value >> 1) ^ (value & 1 ? UINT64_MAX : 0));
}

const void *rcore_cursor_take(struct rcore_cursor *cursor, uint64_t size)
{
	if (size > rcore_cursor_left(cursor)) {
		fail(cursor);
		return NULL;
	}
	const void *taken = cursor->at;
	cursor->at += size;
	return taken;
}
