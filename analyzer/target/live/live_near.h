/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_NEAR_H
#define RCORE_TARGET_LIVE_NEAR_H

#include "target/live/live.h"

/*
 * Finds how many ranges, from the first one on, are read faster as one, because
 * each begins near the end of the one before. Returns their number, from 1 to
 * `count`, and sets *ret to the range that covers them, which has at most
 * `most` bytes unless it covers only one. The bytes between two of them are on
 * their pages, so they can be read if the ranges can.
 */
size_t rcore_live_run_of(const struct rcore_live_range *ranges, size_t count, size_t most,
			 struct rcore_live_range *ret);

#endif
