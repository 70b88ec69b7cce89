/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_CAUSE_H
#define RCORE_TRIAGE_CAUSE_H

#include "base/error.h"
#include "model/snapshot.h"
#include "target/memory.h"
#include "target/process.h"

/* The fault that made Ruby abort, as its signal stack tells, and where it struck. */
struct rcore_original_fault {
	struct rcore_siginfo info;
	uint64_t pc, sp;
};

/*
 * Why the process died: fills snapshot->cause, its threads and fibers being there already.
 * `original` is the fault on the signal stack that made Ruby abort (NULL: none). The text is one
 * line for people: signal, what was wrong at which address, in which thread and fiber; of a full machine
 * stack, whose it is and what stopped it.
 */
struct rcore_error *rcore_cause_find(const struct rcore_process *process,
				     const struct rcore_original_fault *original,
				     struct rcore_snapshot *snapshot);

#endif
