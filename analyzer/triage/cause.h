/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_CAUSE_H
#define RCORE_TRIAGE_CAUSE_H

#include "base/error.h"
#include "image/unwind/signal_frame.h"
#include "model/snapshot.h"
#include "target/memory.h"
#include "target/process.h"

/*
 * Fills snapshot->cause: why the process died. The snapshot has its threads and
 * fibers, and the parts of the cause that need the target's memory
 * (session/explain.h). `original` is the fault on the signal stack that made
 * Ruby abort, or NULL. The text is one line for people: the signal, what was
 * wrong at which address, in which thread and fiber; and for a stack overflow,
 * whose stack it was and what stopped it.
 */
struct rcore_error *rcore_cause_find(const struct rcore_process *process,
				     const struct rcore_signal_frame *original,
				     struct rcore_snapshot *snapshot);

#endif
