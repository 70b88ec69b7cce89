/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_FILLER_H
#define RCORE_BASE_FILLER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Stars replace each byte of text that was removed from memory. NUL and newline
 * stay, so that UTF-16 stays UTF-16, and because Ruby prints text with several
 * lines differently.
 */
enum { RCORE_FILLER = '*' };

void rcore_fill(void *bytes, size_t size);

/*
 * Returns whether all bytes are what rcore_fill() leaves, with at least one
 * star.
 */
bool rcore_is_filled(const void *bytes, size_t size);

#endif
