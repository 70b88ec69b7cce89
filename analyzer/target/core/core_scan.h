/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_SCAN_H
#define RCORE_TARGET_CORE_SCAN_H

#include "target/live/live_scan.h"

struct rcore_core;

/* The most bytes of a range, and to read at once: they stay in the cache. */
enum { RCORE_CORE_SCAN_MOST = 128 << 10 };

/*
 * Does with a core what rcore_live_scan() does with a process: two threads read
 * the ranges, some adjacent ones at a time. Reads them from the file, which
 * takes half of the time that the kernel would need to map their pages. Returns
 * false if a range is too large, or not in one saved piece.
 */
bool rcore_core_scan(const struct rcore_core *core, const struct rcore_live_range *ranges,
		     size_t count, rcore_live_scan_visit *visit, void *context);

#endif
