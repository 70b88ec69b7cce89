/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_LOCALS_SAME_H
#define RCORE_MODEL_LOCALS_SAME_H

#include "model/locals.h"
#include "model/snapshot.h"

/*
 * Whether two frames have the same values. True if neither frame's values were
 * requested (NULL).
 */
bool rcore_frame_values_same(const struct rcore_frame_values *a,
			     const struct rcore_frame_values *b);

/* Whether two frames look the same: their labels, paths, lines and problems. */
bool rcore_frame_same(const struct rcore_frame *a, const struct rcore_frame *b);

/*
 * Returns a hash of a frame's label and path, and of `line` and `hash`. Frames
 * that look the same have the same labels and paths.
 */
uint64_t rcore_frame_hash(const struct rcore_frame *frame, int line, uint64_t hash);

#endif
