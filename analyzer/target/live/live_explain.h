/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_EXPLAIN_H
#define RCORE_TARGET_LIVE_EXPLAIN_H

#include "base/error.h"
#include "target/live/live_files.h"

/* Why a process cannot be read or stopped, and what to do about it. */

/*
 * Before anything is read: NULL if `status` is that of a process with memory of
 * its own.
 */
struct rcore_error *rcore_live_refuse(int pid, int folder,
				      const struct rcore_live_status *status);

/*
 * After a call on the process failed with `errnum`. `folder`: of /proc/PID, -1:
 * could not be opened.
 */
struct rcore_error *rcore_live_explain(int pid, int folder, int errnum);

#endif
