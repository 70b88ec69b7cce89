/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_TRIAGE_H
#define RCORE_TRIAGE_TRIAGE_H

/*
 * triage/ finds why a process died, the frame to blame, and the signature of
 * the crash. It works on model/ only, and includes base/ and model/. Start
 * here.
 */

#include "base/error.h"
#include "model/snapshot.h"
#include "triage/cause.h"

/*
 * Fills the snapshot's cause, blame and signature from its threads, fibers and
 * woven stacks. `original` as in rcore_cause_find(). Error: NO_MEMORY.
 */
struct rcore_error *rcore_triage(const struct rcore_process *process,
				 const struct rcore_signal_frame *original,
				 struct rcore_snapshot *snapshot);

#endif
