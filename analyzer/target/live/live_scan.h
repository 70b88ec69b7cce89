/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_SCAN_H
#define RCORE_TARGET_LIVE_SCAN_H

#include "target/live/live.h"

enum {
	RCORE_LIVE_SCAN_THREADS = 2,
	RCORE_LIVE_SCAN_MOST = 256 << 10, /* bytes of a range */
};

/*
 * Gets the bytes of the range `index`, which are gone after it returns. It may
 * read nothing of the process. `thread` is 0 or 1.
 */
typedef void rcore_live_scan_visit(void *context, int thread, size_t index,
				   const uint8_t *bytes);

/*
 * Reads many ranges in few system calls and keeps nothing. If they are large,
 * two threads read half of them each and call `visit`, at the same time. Each
 * visits its ranges in their order; those of thread 0 come first. Returns false
 * if not all of them could be read, in time if the process is stopped. Always
 * returns false if reads return a copy.
 */
bool rcore_live_scan(struct rcore_live *live, struct rcore_live_range *ranges, size_t count,
		     rcore_live_scan_visit *visit, void *context);

#endif
