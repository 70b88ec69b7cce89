/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_RUNNING_REST_H
#define RCORE_SESSION_RUNNING_REST_H

#include "session/live/running_ahead.h"

/*
 * Private to running_ahead.c: which stacks of parked fibers rest, so that what
 * was copied ahead is still good at the stop.
 */

/*
 * Notes the fibers of the first reading as the copy has them, and lets the
 * stacks rest that cannot change until their fiber runs. Error: NO_MEMORY.
 */
struct rcore_error *rcore_ahead_note_fibers(struct rcore_ahead *ahead,
					    const struct rcore_session *session);

/* Notes for each thread that has resting fibers whether it has slept. */
void rcore_ahead_note_sleepers(struct rcore_ahead *ahead, const struct rcore_session *session,
			       const struct rcore_snapshot *now);

/* Whether the thread of a resting fiber of the first reading has slept. */
bool rcore_ahead_has_slept(const struct rcore_ahead *ahead, size_t fiber);

/* Copies again the stacks that a thread may have changed. */
void rcore_ahead_wake_unless_slept(struct rcore_ahead *ahead,
				   const struct rcore_session *session);

/*
 * Finds the fibers that are as they were copied ahead, and copies the stacks of
 * all others again.
 */
void rcore_ahead_find_unchanged(struct rcore_ahead *ahead, const struct rcore_session *session);

/*
 * Copies again the stacks of fibers that have changed, are new or run, if they
 * rested. A new fiber may have got the stacks of one that has ended, and a
 * fiber that runs may have the same struct as before. Returns whether there
 * were any: they must be decoded again.
 */
bool rcore_ahead_wake_changed(struct rcore_ahead *ahead, const struct rcore_session *session,
			      const struct rcore_snapshot *changed);

#endif
