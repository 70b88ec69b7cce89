/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_LIMITS_H
#define RCORE_COMMAND_LIMITS_H

#include "command/command.h"

/* --depth, --max-string, --max-items as the library has them: 0 is its default. What nobody can hold is
 * as good as no limit. */
static inline unsigned rcore_limit(size_t given)
{
	return given < RCORE_NO_DEPTH ? (unsigned)given : RCORE_NO_DEPTH - 1;
}

static inline unsigned rcore_depth(struct rcore_index given)
{
	return given.is_given && !given.number ? RCORE_NO_DEPTH : rcore_limit(given.number);
}

#endif
