/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_EXPLAIN_H
#define RCORE_TARGET_LIVE_EXPLAIN_H

#include "base/error.h"
#include "target/live/live_files.h"

/* Explains why a process cannot be read or stopped, and what to do about it. */

/*
 * Call it before anything is read. Returns NULL if `status` is that of a
 * process with memory of its own.
 */
struct rcore_error *rcore_live_refuse(int pid, int folder,
				      const struct rcore_live_status *status);

/*
 * Call it after a call on the process failed with `errnum`. `folder` is
 * /proc/PID, or -1 if it could not be opened.
 */
struct rcore_error *rcore_live_explain(int pid, int folder, int errnum);

/* Says that the process has executed another program. */
struct rcore_error *rcore_live_executed(int pid);

#endif
