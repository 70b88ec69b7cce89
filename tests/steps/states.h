/* SPDX-License-Identifier: MIT */
#ifndef STEPS_STATES_H
#define STEPS_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The states that were seen, by their hashes. */
struct states {
	uint64_t *slots; /* 0: free */
	size_t count, capacity;
};

/* Returns true if it was not there yet. */
bool states_add(struct states *states, uint64_t hash);
bool states_has(const struct states *states, uint64_t hash);
void states_deinit(struct states *states);

/* A number that depends on all that went into it; also a step of a random sequence. */
uint64_t states_mix(uint64_t hash, uint64_t word);

#endif
