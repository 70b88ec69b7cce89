/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_RUNNING_AHEAD_H
#define RCORE_SESSION_RUNNING_AHEAD_H

#include "session/load.h"
#include "session/running.h"

/*
 * Reads a running process with as short a stop as possible. All that a first
 * reading needed is copied while the process runs. Then the process is stopped.
 *
 *   - If no thread has executed anything since, the copy is what the process
 *     has, and it is resumed at once.
 *   - Otherwise all of it is copied again. Only the fibers whose struct or
 *     stacks differ are decoded while the process is stopped, because they may
 *     lead to memory that is not in the copy.
 *
 * The copy is decoded when the process runs again. Nothing in it is older than
 * the stop.
 */
struct rcore_ahead {
	/* The first reading; owned. */
	struct rcore_snapshot *first;
	/* Of what the copy has of each of its fibers. */
	uint64_t *digests;
	struct rcore_address_map unchanged;
	/* All fibers, by address, as they were found last. */
	uint64_t *known;
	size_t known_count;
	struct rcore_running_fds fds;
};

/*
 * Reads one moment. ahead->first must be set; anything else begins with zeroes.
 * Call deinit() in any case. *ret_missed: something was read later than in that
 * moment, so that the process should be read again. Errors: those of
 * rcore_live_begin() and rcore_session_read().
 */
struct rcore_error *rcore_ahead_read(struct rcore_ahead *ahead, struct rcore_session *session,
				     struct rcore_moment *ret, struct rcore_live_pause *pause,
				     bool *ret_missed);
void rcore_ahead_deinit(struct rcore_ahead *ahead);

#endif
