/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_SIMILAR_H
#define RCORE_MODEL_SIMILAR_H

#include "model/snapshot.h"

/*
 * Whether two stacks are similar: they are the same except for the line of the
 * innermost frame that has a file, and for how often the frames below it are
 * repeated by recursion. Similar stacks have the same hash.
 */
bool rcore_stack_similar(const struct rcore_fiber *a, const struct rcore_fiber *b);
uint64_t rcore_stack_similar_hash(const struct rcore_fiber *fiber);

/*
 * Returns the innermost frame that has a file of its own; if there is none,
 * frame_count.
 */
size_t rcore_stack_place(const struct rcore_fiber *fiber);

#endif
