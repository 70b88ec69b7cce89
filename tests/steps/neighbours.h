/* SPDX-License-Identifier: MIT */
#ifndef STEPS_NEIGHBOURS_H
#define STEPS_NEIGHBOURS_H

#include "findings.h"

/*
 * Compares two states between which kernel thread `tid` made one step. Its
 * stack may have grown by at most one frame, and the rest of the old one is as
 * it was, on the native side, on the Ruby side and in their order. All other
 * fibers are as before. Its innermost control frame may be `filling`.
 */
void check_neighbours(struct findings *findings, const struct rcore_snapshot *before,
		      const struct rcore_snapshot *now, int tid, bool filling);

#endif
