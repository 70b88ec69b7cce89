/* SPDX-License-Identifier: MIT */
#include "states.h"

#include <stdlib.h>

uint64_t states_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
	return hash ^ (hash >> 31);
}

/* The slot of a hash, or the free one where it would go. */
static uint64_t *slot_of(const struct states *states, uint64_t hash)
{
	size_t slot = hash & (states->capacity - 1);
	while (states->slots[slot] && states->slots[slot] != hash)
		slot = (slot + 1) & (states->capacity - 1);
	return &states->slots[slot];
}

static bool put(struct states *states, uint64_t hash)
{
	uint64_t *slot = slot_of(states, hash);
	if (*slot)
		return false;
	*slot = hash;
	states->count++;
	return true;
}

static void grow(struct states *states)
{
	struct states old = *states;
	*states = (struct states){.capacity = old.capacity ? 2 * old.capacity : 1024};
	states->slots = calloc(states->capacity, sizeof(*states->slots));
	if (!states->slots)
		abort();
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i])
			put(states, old.slots[i]);
	free(old.slots);
}

bool states_add(struct states *states, uint64_t hash)
{
	if (2 * states->count >= states->capacity)
		grow(states);
	return put(states, hash ? hash : 1);
}

bool states_has(const struct states *states, uint64_t hash)
{
	return states->capacity && *slot_of(states, hash ? hash : 1);
}

void states_deinit(struct states *states)
{
	free(states->slots);
	*states = (struct states){0};
}
