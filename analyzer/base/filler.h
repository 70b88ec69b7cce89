/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_FILLER_H
#define RCORE_BASE_FILLER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What stands in memory for text that was taken out: as many stars. NUL and
 * newline stay, for UTF-16 to be UTF-16 still, and because Ruby prints what has
 * lines in another way.
 */
enum { RCORE_FILLER = '*' };

void rcore_fill(void *bytes, size_t size);

/* Nothing but what rcore_fill() leaves, and at least one star. */
bool rcore_is_filled(const void *bytes, size_t size);

#endif
