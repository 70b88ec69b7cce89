/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_ACTIVITY_H
#define RCORE_TRIAGE_ACTIVITY_H

#include "model/snapshot.h"

/* What a fiber computes outside of Ruby code. */
struct rcore_activity {
	/* "a regexp match"; NULL: no function says it. */
	const char *what;
	/* The native frame that shows it; NULL: none has a name. */
	const struct rcore_native_frame *frame;
};

/*
 * Returns what the native frames do that the innermost Ruby frame called: by a
 * function of the interpreter that is known to take long, otherwise the
 * innermost function of an extension or a library.
 */
struct rcore_activity rcore_activity_of(const struct rcore_fiber *fiber);

/*
 * Returns what the interpreter does in a native frame, "a regexp match"; NULL
 * if it is not one of the functions that may take long.
 */
const char *rcore_activity_name(const struct rcore_native_frame *frame);

#endif
