/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_FOLD_H
#define RCORE_REPORT_FOLD_H

#include "model/snapshot.h"

/*
 * Deep recursion as a person wants it: a cycle of frames that comes back many
 * times in a row is one item, so 10,000 frames of `a` calling `b` calling `a` are
 * shown as two frames and a count.
 */
struct rcore_fold {
	size_t first;  /* index of the item's first frame */
	size_t period; /* frames in one round */
	size_t rounds; /* 1: a plain frame */
};

/* The item at frame *at; moves *at behind it. False past the last. Looks at cycles of
 * up to 16 frames; in time linear in the number of frames. */
bool rcore_fold_next(const struct rcore_fiber *fiber, size_t *at, struct rcore_fold *ret);

#endif
