/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_GROUP_H
#define RCORE_MODEL_GROUP_H

#include "base/error.h"
#include "model/snapshot.h"

/*
 * Whether two frames look the same: label, path, line, and what could not be
 * read of them.
 */
bool rcore_frame_same(const struct rcore_frame *a, const struct rcore_frame *b);

/* The same of all frames of two fibers, and a hash of a fiber's frames. */
bool rcore_stack_same(const struct rcore_fiber *a, const struct rcore_fiber *b);
uint64_t rcore_stack_hash(const struct rcore_fiber *fiber);

/*
 * Finds the fibers that are parked with the same stack and fills
 * snapshot->groups and each fiber's `group`. Merged are suspended fibers that
 * are no root fiber and wait for no other; fibers of living threads and of
 * ended ones apart. A group has two fibers or more; groups are in order of
 * their first fiber. Errors: NO_MEMORY; then there are no groups.
 */
struct rcore_error *rcore_snapshot_group(struct rcore_snapshot *snapshot);

#endif
