/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_END_H
#define RCORE_IMAGE_UNWIND_END_H

#include "image/unwind/unwind_walk.h"

/* Notes why a walk ends here; the first reason counts. */
void rcore_walk_problem(struct rcore_walk *walk, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether libdwfl ended a stretch, with `status`, where the stack ends. */
bool rcore_walk_is_natural(struct rcore_walk *walk, int status);

/* Notes why the walk ended where the stack does not. */
void rcore_walk_explain_end(struct rcore_walk *walk);

#endif
