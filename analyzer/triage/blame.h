/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_BLAME_H
#define RCORE_TRIAGE_BLAME_H

#include "triage/crash_stack.h"

/*
 * Fills snapshot->blame with the frame to look at first: the innermost of the
 * application, otherwise of a native extension, otherwise of a gem, otherwise
 * the innermost of all. Error: NO_MEMORY.
 */
struct rcore_error *rcore_blame_find(const struct rcore_crash_stack *stack,
				     struct rcore_snapshot *snapshot);

#endif
