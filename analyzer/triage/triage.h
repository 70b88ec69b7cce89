/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_TRIAGE_H
#define RCORE_TRIAGE_TRIAGE_H

/*
 * triage/ tells why a process died, which frame to blame, and its signature;
 * it works on model/ alone. Start here.
 */

#include "base/error.h"
#include "model/snapshot.h"
#include "triage/cause.h"

/*
 * What a snapshot says of the crash as a whole: cause, blame and signature,
 * from its threads, fibers and woven stacks. `original` as of
 * rcore_cause_find(). Error: NO_MEMORY.
 */
struct rcore_error *rcore_triage(const struct rcore_process *process,
				 const struct rcore_signal_frame *original,
				 struct rcore_snapshot *snapshot);

#endif
