/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_LOAD_H
#define RCORE_SESSION_LOAD_H

#include "session/decode.h"
#include "session/session.h"

/*
 * The steps in order, for callers that need only some of them. load.c shows all
 * of them.
 */

/*
 * Returns a snapshot that only says which target it describes. Error:
 * NO_MEMORY.
 */
struct rcore_error *rcore_session_describe(const struct rcore_session *session,
					   struct rcore_snapshot **ret);

/*
 * Identifies Ruby and locates its VM: fills session->located and describes in
 * the snapshot how it was found. Errors: as rcore_load().
 */
struct rcore_error *rcore_session_look(struct rcore_session *session,
				       struct rcore_snapshot *snapshot);

/*
 * Looks, and decodes one moment, without stopping anything. If anything must be
 * redacted, the redactor learns from it. The caller frees ret->snapshot.
 */
struct rcore_error *rcore_session_read(struct rcore_session *session, struct rcore_moment *ret);

/*
 * Does the same for a target that an earlier rcore_session_read() has located.
 */
struct rcore_error *rcore_session_read_again(struct rcore_session *session,
					     struct rcore_moment *ret);

/*
 * If anything must be redacted, and the redactor does not know the target's
 * secrets yet, loads a snapshot for it to learn them from. Errors: as
 * rcore_load().
 */
struct rcore_error *rcore_session_learn_secrets(struct rcore_session *session);

#endif
