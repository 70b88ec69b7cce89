/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_HALVES_H
#define RCORE_TARGET_LIVE_HALVES_H

#include "target/live/live_memory.h"

enum { RCORE_LIVE_HALVES = 2 };

/* Reads ranges [from, to) of a list through `memory`. */
typedef void rcore_live_half(void *context, struct rcore_live_memory *memory, size_t from,
			     size_t to);

/*
 * Reads the ranges of a list with one call of `read`. If there is much to read,
 * makes two calls at the same time, the second one in another thread: while a
 * process is stopped, the processors on which its threads ran are free. Much is
 * a megabyte, or a tenth of that if a thread is ready; each range counts as
 * half a kilobyte more than its size.
 */
void rcore_live_in_halves(struct rcore_live_memory *memory,
			  const struct rcore_live_range *ranges, size_t count,
			  rcore_live_half *read, void *context);

#endif
