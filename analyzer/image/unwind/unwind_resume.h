/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_RESUME_H
#define RCORE_IMAGE_UNWIND_RESUME_H

#include "image/unwind/unwind_walk.h"

/*
 * Where code has no call frame information, or none that holds: the caller's
 * registers by other means. From walk->at to walk->start, trust, is_exact; in
 * this order:
 *   - a signal's trampoline by its code (musl's has no CFI): what the kernel
 *     saved
 *   - the place that a nonlocal jump goes to
 *   - the link register, of the innermost frame
 *   - what the innermost function has saved so far, if it does nothing else
 *   - what code of YJIT saves when it is entered (unwind_compiled.h)
 *   - the frame pointer, where the function keeps one
 *   - the nearest return address on the stack, on probation
 * false: none of these leads on.
 */
bool rcore_walk_resume(struct rcore_walk *walk);

/* The first of these alone. */
bool rcore_walk_resume_signal(struct rcore_walk *walk);

/*
 * Stands the last frame in the end of a nonlocal jump, where its call frame
 * information does not hold?
 */
bool rcore_walk_is_landing(struct rcore_walk *walk, struct rcore_landing *ret);

/* Drops the return address that is on probation and looks for the next. */
bool rcore_walk_rescan(struct rcore_walk *walk);

#endif
