/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_ROOM_H
#define RCORE_TARGET_LIVE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A copy of a process takes much memory. If it takes the last of the machine's,
 * or of the container's that rcore shares with the process (docker exec), the
 * kernel kills a program, and that may be the process.
 */

struct rcore_live_room {
	uint64_t bytes;  /* UINT64_MAX: not limited, or not known */
	char limit[320]; /* where it is from, such as a path */
};

/*
 * Finds how much memory this process can still get: of the machine, and of its
 * control group and all groups above it. `root` is "", or the folder that has
 * /proc and /sys of a test.
 */
void rcore_live_room_find(const char *root, struct rcore_live_room *ret);

/* What /proc/self/oom_score_adj was. Initialize it with zeroes. */
struct rcore_live_victim {
	bool is_set;
	char before[16];
};

/*
 * If memory runs out, the kernel kills this process before all others, until
 * end(). Does nothing if /proc does not allow it.
 */
void rcore_live_victim_begin(struct rcore_live_victim *victim);
void rcore_live_victim_end(struct rcore_live_victim *victim);

#endif
