/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_NEAR_H
#define RCORE_TARGET_LIVE_NEAR_H

#include "target/live/live.h"

/*
 * Finds ranges, from the first of `count` on, that are read sooner as one,
 * because each begins near the end of the one before. Returns how many they
 * are, at least 1, and sets *ret to the range that covers them. More than one
 * has at most `most` bytes. What is between two of them is on their pages, so
 * it can be read if they can.
 */
size_t rcore_live_run_of(const struct rcore_live_range *ranges, size_t count, size_t most,
			 struct rcore_live_range *ret);

#endif
