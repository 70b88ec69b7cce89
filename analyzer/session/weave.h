/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_WEAVE_H
#define RCORE_SESSION_WEAVE_H

#include "session/decode.h"
#include "weave/callers.h"

/*
 * The fifth step: unwinds the native stack of each kernel thread and parked
 * fiber, and merges it with the Ruby frames. The process may run again, because
 * its stacks were kept while it was stopped. `callers` is rcore_weave()'s.
 * Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_weave(struct rcore_target *target,
					const struct rcore_located *located,
					const struct rcore_moment *moment,
					struct rcore_callers *callers);

/*
 * Finds the function that runs the interpreter by its symbol, or in the pack,
 * and sets snapshot->activation. Returns false if neither has it.
 */
bool rcore_session_known_activation(const struct rcore_target *target,
				    const struct rcore_located *located,
				    struct rcore_snapshot *snapshot);

/*
 * Finds that function by its code instead, starting where it executes
 * instructions. Errors: those of rcore_unwind().
 */
struct rcore_error *
rcore_session_search_activation(struct rcore_target *target,
				const struct rcore_instructions *instructions,
				struct rcore_snapshot *snapshot);

#endif
