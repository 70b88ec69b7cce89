/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_ROOM_H
#define RCORE_TARGET_LIVE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A copy of a process takes much memory. If the machine runs out of memory, or
 * the container that rcore shares with the process does (docker exec), the
 * kernel kills a program (the OOM killer). This must not be the process.
 */

struct rcore_live_room {
	uint64_t bytes;  /* UINT64_MAX: unlimited, or unknown */
	char limit[320]; /* the file that sets the limit; "" if there is none */
};

/*
 * Finds out how much memory rcore can still allocate: what the machine has
 * available, and what the limits of rcore's control group and of all groups
 * above it leave. `root` precedes each path: "", or the folder of a test.
 */
void rcore_live_room_find(const char *root, struct rcore_live_room *ret);

/* Whether rcore is the OOM killer's first victim. Begins with zeroes. */
struct rcore_live_victim {
	bool is_set;
	char before[16]; /* what /proc/self/oom_score_adj was */
};

/*
 * begin() sets oom_score_adj of rcore to the highest value, so that the kernel
 * kills rcore before all others if memory runs out. end() restores it. Both do
 * nothing if /proc does not allow it.
 */
void rcore_live_victim_begin(struct rcore_live_victim *victim);
void rcore_live_victim_end(struct rcore_live_victim *victim);

#endif
