/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_EXPLAIN_H
#define RCORE_SESSION_EXPLAIN_H

#include "image/unwind/signal_frame.h"
#include "session/reader.h"

/*
 * The sixth step: why the process died, which frame to look at first, the
 * signature, and deadlocks. triage/ knows how to tell; what takes the target's
 * memory is read here.
 */

/* Fills snapshot->cause, blame, signature and deadlocks. Error: NO_MEMORY. */
struct rcore_error *rcore_session_explain(const struct rcore_target *target,
					  struct rcore_located *located, bool hides_text,
					  struct rcore_snapshot *snapshot);

/*
 * Fills snapshot->cause as far as that works without Ruby: the signal, the
 * address, the instruction. Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_explain_signal(const struct rcore_target *target,
						 struct rcore_snapshot *snapshot);

/*
 * The fault that made Ruby abort, of the thread that died; Ruby's own handler
 * ran after it.
 */
struct rcore_original {
	bool present;
	struct rcore_signal_frame frame;
};

/*
 * Finds *ret, and sets the part of snapshot->cause.fault that takes the
 * target's memory: its address, the access, and slots of the heap. If `ruby` is
 * NULL, not the slots.
 */
void rcore_session_fault(const struct rcore_target *target, struct rcore_ruby *ruby,
			 struct rcore_snapshot *snapshot, struct rcore_original *ret);

/*
 * Sets snapshot->cause.abort_message and bug: what the process said as it
 * ended, if its memory still has it. Native stacks must be there for `bug`. If
 * `hides_text`, leaves out the texts among the arguments.
 */
void rcore_session_last_words(const struct rcore_target *target, bool hides_text,
			      struct rcore_snapshot *snapshot);

#endif
