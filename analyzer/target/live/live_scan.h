/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_SCAN_H
#define RCORE_TARGET_LIVE_SCAN_H

#include "target/live/live.h"

enum {
	RCORE_LIVE_SCAN_THREADS = 2,
	RCORE_LIVE_SCAN_MOST = 256 << 10, /* the most bytes of a range */
};

/*
 * Gets the bytes of the range `index`, which are valid until it returns. It
 * must not read the process. `thread` is 0 or 1. Returns false if the bytes are
 * wrong: the scan stops, and rcore_live_scan() returns false.
 */
typedef bool rcore_live_scan_visit(void *context, int thread, size_t index,
				   const uint8_t *bytes);

/*
 * Reads many ranges in few system calls and keeps nothing. If they are large,
 * two threads read half of them each, and call `visit` at the same time. Each
 * thread visits its ranges in order. Thread 0 has the first half. Returns false
 * if not all ranges could be read or, while the process is stopped, not in
 * time. In a round, always returns false if reads return a copy; `reads_now`
 * means that the caller is outside of all rounds, as with rcore_live_read().
 */
bool rcore_live_scan(struct rcore_live *live, bool reads_now, struct rcore_live_range *ranges,
		     size_t count, rcore_live_scan_visit *visit, void *context);

#endif
