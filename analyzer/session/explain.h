/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_EXPLAIN_H
#define RCORE_SESSION_EXPLAIN_H

#include "image/unwind/signal_frame.h"
#include "session/reader.h"

/*
 * The sixth step: finds why the process died, which frame to look at first, the
 * signature, and deadlocks. The logic is in triage/; this step reads what needs
 * the target's memory.
 */

/* Fills snapshot->cause, blame, signature and deadlocks. Error: NO_MEMORY. */
struct rcore_error *rcore_session_explain(const struct rcore_target *target,
					  struct rcore_located *located, bool hides_text,
					  bool merge_similar, struct rcore_snapshot *snapshot);

/*
 * Fills the parts of snapshot->cause that do not need Ruby: the signal, the
 * address, the instruction. Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_explain_signal(const struct rcore_target *target,
						 struct rcore_snapshot *snapshot);

/*
 * The fault that made Ruby abort, in the thread that died. Ruby's own handler
 * ran after it.
 */
struct rcore_original {
	bool present;
	struct rcore_signal_frame frame;
};

/*
 * Finds *ret, and sets the parts of snapshot->cause.fault that need the
 * target's memory: its address, the access, and slots of the heap. If `ruby` is
 * NULL, skips the slots.
 */
void rcore_session_fault(const struct rcore_target *target, struct rcore_ruby *ruby,
			 struct rcore_snapshot *snapshot, struct rcore_original *ret);

/*
 * Sets snapshot->cause.abort_message and bug: what the process printed as it
 * ended, if its memory still has it. `bug` needs native stacks. If
 * `hides_text`, leaves out texts among the arguments.
 */
void rcore_session_last_words(const struct rcore_target *target, bool hides_text,
			      struct rcore_snapshot *snapshot);

#endif
