/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_TRACER_H
#define RCORE_TARGET_LIVE_TRACER_H

#include <stdint.h>

#include "target/live/live_stop.h"

/*
 * Who traces a process. The kernel lets a thread have one tracer (ptrace(2)):
 * a debugger, strace or another rcore.
 */

/* Each thread may have its own. Returns the first's process, or 0. */
int rcore_live_tracer(int folder);

/*
 * Like rcore_stop_begin(). Another rcore holds the process for milliseconds,
 * and never for more than RCORE_STOP_LIMIT_MS: this waits until it lets go. It
 * waits for no other tracer.
 */
int rcore_live_stop_in_turn(int folder, unsigned limit, struct rcore_stop **ret);

#endif
