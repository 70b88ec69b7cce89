/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TESTS_DRAW_H
#define RCORE_TESTS_DRAW_H

#include <stdint.h>

/*
 * Draws a seed, or reads it from RCORE_SEED, and prints it, so that a failure
 * can be repeated.
 */
uint64_t random_seed(void);

/* Returns a number < `limit`, and moves the seed on. */
uint32_t random_below(uint64_t *seed, uint32_t limit);

#endif
