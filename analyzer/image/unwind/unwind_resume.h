/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_RESUME_H
#define RCORE_IMAGE_UNWIND_RESUME_H

#include "image/unwind/unwind_walk.h"

/*
 * Finds the caller's registers if there is no call frame information, or it is
 * wrong. Reads walk->at; sets walk->start, trust and is_exact. Tries in this
 * order:
 *
 * - the code of a signal trampoline (musl's has no CFI): what the kernel saved
 * - the place that a nonlocal jump goes to
 * - the link register, for the innermost frame
 * - what the innermost function has saved so far, if it does nothing else
 * - the frame pointer of code that ZJIT compiled (unwind_records.h)
 * - what YJIT-compiled code saves when it is entered (unwind_compiled.h)
 * - the frame pointer, if the function keeps one
 * - the nearest return address on the stack, on probation
 *
 * Returns false if none of these finds a caller.
 */
bool rcore_walk_resume(struct rcore_walk *walk);

/* Tries only the first of these. */
bool rcore_walk_resume_signal(struct rcore_walk *walk);

/*
 * Whether the last frame is at the end of a nonlocal jump, where its call frame
 * information is wrong.
 */
bool rcore_walk_is_landing(struct rcore_walk *walk, struct rcore_landing *ret);

/* Drops the return address that is on probation and finds the next one. */
bool rcore_walk_rescan(struct rcore_walk *walk);

#endif
