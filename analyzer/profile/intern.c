/* SPDX-License-Identifier: MIT */
#include "profile/intern.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grow.h"

/* Returns the slot of an equal element, or the free one where it belongs. */
static struct rcore_intern_slot *find(const struct rcore_intern_index *index, uint32_t hash,
				      bool (*same)(const void *set, uint32_t number,
						   const void *bytes, size_t size),
				      const void *set, const void *bytes, size_t size)
{
	size_t at = hash;
	for (;; at++) {
		struct rcore_intern_slot *slot = &index->slots[at & (index->capacity - 1)];
		if (!slot->number_plus_one ||
		    (slot->hash == hash && same(set, slot->number_plus_one - 1, bytes, size)))
			return slot;
	}
}

/* Makes room for one more element than `count`. */
static bool reserve(struct rcore_intern_index *index, size_t count)
{
	enum { FIRST = 64 };
	if (index->capacity && count + 1 <= index->capacity / 2)
		return true;
	struct rcore_intern_index grown = {.capacity = index->capacity ? index->capacity * 2
								       : FIRST};
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < index->capacity; i++) {
		size_t at = index->slots[i].hash;
		if (!index->slots[i].number_plus_one)
			continue;
		while (grown.slots[at & (grown.capacity - 1)].number_plus_one)
			at++;
		grown.slots[at & (grown.capacity - 1)] = index->slots[i];
	}
	free(index->slots);
	*index = grown;
	return true;
}

static bool same_record(const void *opaque, uint32_t number, const void *bytes, size_t size)
{
	const struct rcore_record_set *set = opaque;
	return memcmp((const char *)set->items + number * size, bytes, size) == 0;
}

bool rcore_record_set_add(struct rcore_record_set *set, const void *record, uint32_t *ret)
{
	size_t size = set->record_size;
	uint32_t hash = (uint32_t)XXH3_64bits(record, size);
	if (set->count >= UINT32_MAX - 1 || !reserve(&set->index, set->count))
		return false;
	struct rcore_intern_slot *slot =
		find(&set->index, hash, same_record, set, record, size);
	if (!slot->number_plus_one) {
		if (!rcore_grow(&set->items, set->count, &set->capacity, size))
			return false;
		memcpy((char *)set->items + set->count * size, record, size);
		*slot = (struct rcore_intern_slot){hash, (uint32_t)++set->count};
	}
	*ret = slot->number_plus_one - 1;
	return true;
}

void rcore_record_set_deinit(struct rcore_record_set *set)
{
	free(set->items);
	free(set->index.slots);
	*set = (struct rcore_record_set){.record_size = set->record_size};
}

static bool same_bytes(const void *opaque, uint32_t number, const void *bytes, size_t size)
{
	const struct rcore_bytes_set *set = opaque;
	const struct rcore_bytes_span *span = &set->items[number];
	return span->size == size && memcmp(set->bytes + span->offset, bytes, size) == 0;
}

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
	uint32_t hash = (uint32_t)XXH3_64bits(source, size);
	if (set->count >= UINT32_MAX - 1 || !reserve(&set->index, set->count))
		return false;
	struct rcore_intern_slot *slot = find(&set->index, hash, same_bytes, set, source, size);
	if (!slot->number_plus_one) {
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
		*slot = (struct rcore_intern_slot){hash, (uint32_t)++set->count};
	}
	*ret = slot->number_plus_one - 1;
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
