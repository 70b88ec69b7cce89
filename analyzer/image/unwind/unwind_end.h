/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_END_H
#define RCORE_IMAGE_UNWIND_END_H

#include "image/unwind/unwind_walk.h"

/* Sets why a walk ends here; the first reason is kept. */
void rcore_walk_problem(struct rcore_walk *walk, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether libdwfl, which returned `status`, stopped at the end of the stack. */
bool rcore_walk_is_natural(struct rcore_walk *walk, int status);

/* Sets why the walk ended before the end of the stack. */
void rcore_walk_explain_end(struct rcore_walk *walk);

/*
 * Whether the stack may continue with this frame. Sets `problem` if it ends
 * here, but not naturally.
 */
bool rcore_walk_may_go_on(struct rcore_walk *walk, uint64_t pc, uint64_t sp);

#endif
