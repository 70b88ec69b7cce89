/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_CAUSE_H
#define RCORE_TRIAGE_CAUSE_H

#include "base/error.h"
#include "image/unwind/signal_frame.h"
#include "model/snapshot.h"
#include "target/memory.h"
#include "target/process.h"

/*
 * Why the process died: fills snapshot->cause, its threads and fibers being
 * there already, and of the cause what takes the target's memory (see
 * session.h). `original` is the fault on the signal stack that made Ruby abort
 * (NULL: none). The text is one line for people: signal, what was wrong at
 * which address, in which thread and fiber; of a full machine stack, whose it
 * is and what stopped it.
 */
struct rcore_error *rcore_cause_find(const struct rcore_process *process,
				     const struct rcore_signal_frame *original,
				     struct rcore_snapshot *snapshot);

#endif
