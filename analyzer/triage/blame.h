/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_BLAME_H
#define RCORE_TRIAGE_BLAME_H

#include "triage/crash_stack.h"

/*
 * The frame to look at first: the innermost of the application, else of a
 * native extension, else of a gem, else the innermost of all. Fills
 * snapshot->blame. Error: NO_MEMORY.
 */
struct rcore_error *rcore_blame_find(const struct rcore_crash_stack *stack,
				     struct rcore_snapshot *snapshot);

#endif
