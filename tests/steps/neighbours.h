/* SPDX-License-Identifier: MIT */
#ifndef STEPS_NEIGHBOURS_H
#define STEPS_NEIGHBOURS_H

#include "findings.h"

/*
 * Holds two states to each other between which kernel thread `tid` made one step: its stack has grown by a frame
 * at most, and what it has left of the old one is as it was, on the native side, on the Ruby side and in
 * their order; whoever did not move is as before. Its innermost control frame may be `filling`.
 */
void check_neighbours(struct findings *findings, const struct rcore_snapshot *before,
		      const struct rcore_snapshot *now, int tid, bool filling);

#endif
