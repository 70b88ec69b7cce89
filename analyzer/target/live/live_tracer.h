/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_TRACER_H
#define RCORE_TARGET_LIVE_TRACER_H

#include <stdint.h>

#include "target/live/live_stop.h"

/*
 * Finds out who traces a process. A thread can have only one tracer
 * (ptrace(2)): a debugger, strace or another rcore.
 */

/*
 * Returns the process that traces the first traced thread; 0: none is traced.
 * Other threads may have other tracers.
 */
int rcore_live_tracer(int folder);

/*
 * Like rcore_stop_begin(), but waits while another rcore holds the process,
 * which takes milliseconds, and at most
 * RCORE_STOP_LIMIT_MS + RCORE_STOP_WAIT_MS. It does not wait for other tracers.
 */
int rcore_live_stop_in_turn(int folder, const struct rcore_live_sleepers *sleepers,
			    unsigned limit, struct rcore_stop **ret);

#endif
