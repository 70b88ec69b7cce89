/* SPDX-License-Identifier: MIT */
#include "profile/intern.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grow.h"
#include "base/hot.h"

/* What an index needs to know about its set. */
struct kind {
	uint32_t (*hash)(const void *set, uint32_t number);
	bool (*same)(const void *set, uint32_t number, const void *bytes, size_t size);
};

/* Returns the slot of an equal element, or the free one where it belongs. */
static uint32_t *find(const struct rcore_intern_index *index, const struct kind *kind,
		      const void *set, const void *bytes, size_t size)
{
	size_t at = (uint32_t)XXH3_64bits(bytes, size);
	for (;; at++) {
		uint32_t *slot = &index->slots[at & (index->capacity - 1)];
		if (!*slot || kind->same(set, *slot - 1, bytes, size))
			return slot;
	}
}

/* Makes room for one more element than `count`. */
static bool reserve(struct rcore_intern_index *index, const struct kind *kind, const void *set,
		    size_t count)
{
	enum { FIRST = 64 };
	if (count + 1 <= index->capacity / 4 * 3)
		return true;
	struct rcore_intern_index grown = {.capacity = index->capacity ? index->capacity * 2
								       : FIRST};
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (uint32_t number = 0; number < count; number++) {
		size_t at = kind->hash(set, number);
		while (grown.slots[at & (grown.capacity - 1)])
			at++;
		grown.slots[at & (grown.capacity - 1)] = number + 1;
	}
	free(index->slots);
	*index = grown;
	return true;
}

static uint32_t hash_record(const void *opaque, uint32_t number)
{
	const struct rcore_record_set *set = opaque;
	return (uint32_t)XXH3_64bits((const char *)set->items + number * set->record_size,
				     set->record_size);
}

static bool same_record(const void *opaque, uint32_t number, const void *bytes, size_t size)
{
	const struct rcore_record_set *set = opaque;
	return memcmp((const char *)set->items + number * size, bytes, size) == 0;
}

static const struct kind records = {hash_record, same_record};

RCORE_HOT bool rcore_record_set_add(struct rcore_record_set *set, const void *record,
				    uint32_t *ret)
{
	size_t size = set->record_size;
	if (set->count >= UINT32_MAX - 1 || !reserve(&set->index, &records, set, set->count))
		return false;
	uint32_t *slot = find(&set->index, &records, set, record, size);
	if (!*slot) {
		if (!rcore_grow(&set->items, set->count, &set->capacity, size))
			return false;
		memcpy((char *)set->items + set->count * size, record, size);
		*slot = (uint32_t)++set->count;
	}
	*ret = *slot - 1;
	return true;
}

void rcore_record_set_deinit(struct rcore_record_set *set)
{
	free(set->items);
	free(set->index.slots);
	*set = (struct rcore_record_set){.record_size = set->record_size};
}

static uint32_t hash_bytes(const void *opaque, uint32_t number)
{
	const struct rcore_bytes_set *set = opaque;
	const struct rcore_bytes_span *span = &set->items[number];
	return (uint32_t)XXH3_64bits(set->bytes + span->offset, span->size);
}

static bool same_bytes(const void *opaque, uint32_t number, const void *bytes, size_t size)
{
	const struct rcore_bytes_set *set = opaque;
	const struct rcore_bytes_span *span = &set->items[number];
	return span->size == size && memcmp(set->bytes + span->offset, bytes, size) == 0;
}

static const struct kind byte_runs = {hash_bytes, same_bytes};

/* Makes room for `size` bytes at the end. Offsets have 32 bits. */
static bool make_room(struct rcore_bytes_set *set, size_t size)
{
	enum { FIRST = 4096 };
	size_t room = set->room ? set->room : FIRST;
	if (size > UINT32_MAX / 2 || set->used > UINT32_MAX / 2)
		return false;
	while (room - set->used < size)
		room *= 2;
	if (room == set->room)
		return true;
	char *grown = realloc(set->bytes, room);
	if (!grown)
		return false;
	set->bytes = grown;
	set->room = room;
	return true;
}

bool rcore_bytes_set_add(struct rcore_bytes_set *set, const void *bytes, size_t size,
			 uint32_t *ret)
{
	enum { ALIGNMENT = 4 };
	static const char nothing[1];
	const void *source = bytes ? bytes : nothing;
	if (set->count >= UINT32_MAX - 1 || !reserve(&set->index, &byte_runs, set, set->count))
		return false;
	uint32_t *slot = find(&set->index, &byte_runs, set, source, size);
	if (!*slot) {
		size_t padded = (size + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1);
		if (size > UINT32_MAX / 2 || !make_room(set, padded) ||
		    !rcore_grow((void **)&set->items, set->count, &set->capacity,
				sizeof(*set->items)))
			return false;
		memcpy(set->bytes + set->used, source, size);
		memset(set->bytes + set->used + size, 0, padded - size);
		set->items[set->count] =
			(struct rcore_bytes_span){(uint32_t)set->used, (uint32_t)size};
		set->used += padded;
		*slot = (uint32_t)++set->count;
	}
	*ret = *slot - 1;
	return true;
}

void rcore_bytes_set_deinit(struct rcore_bytes_set *set)
{
	free(set->bytes);
	free(set->items);
	free(set->index.slots);
	*set = (struct rcore_bytes_set){0};
}

static size_t index_memory(const struct rcore_intern_index *index)
{
	return index->capacity * sizeof(*index->slots);
}

size_t rcore_record_set_memory(const struct rcore_record_set *set)
{
	return set->capacity * set->record_size + index_memory(&set->index);
}

size_t rcore_bytes_set_memory(const struct rcore_bytes_set *set)
{
	return set->room + set->capacity * sizeof(*set->items) + index_memory(&set->index);
}
