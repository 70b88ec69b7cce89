/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_GROUP_H
#define RCORE_MODEL_GROUP_H

#include "base/error.h"
#include "model/snapshot.h"

/*
 * Whether all frames of two fibers look the same, and a hash of a fiber's
 * frames.
 */
bool rcore_stack_same(const struct rcore_fiber *a, const struct rcore_fiber *b);
uint64_t rcore_stack_hash(const struct rcore_fiber *fiber);

/*
 * Finds the fibers that are parked with the same stack, and fills
 * snapshot->groups and each fiber's `group`. Groups suspended fibers that are
 * not root fibers and wait for no other fiber. Fibers of living threads and
 * those of ended threads are in different groups. A group has two or more
 * fibers; groups are ordered by their first fiber. If `merge_similar`, fibers
 * with similar stacks are merged, too. Error: NO_MEMORY; then there are no
 * groups.
 */
struct rcore_error *rcore_snapshot_group(struct rcore_snapshot *snapshot, bool merge_similar);

#endif
