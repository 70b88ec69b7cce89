/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_PACK_H
#define RCORE_SESSION_PACK_H

/*
 * session/pack/ writes small cores: what an analysis read from a core or a
 * process, without its secrets. Start here.
 */

#include "session/session.h"
#include "target/output/output.h"

/*
 * Does the same as rcore_pack() to an open output, for a session of a core or a
 * running process that was opened with options.record.
 */
struct rcore_error *rcore_session_pack(struct rcore_session *session,
				       const struct rcore_snapshot *snapshot,
				       const struct rcore_output *output, uint64_t *ret_size);

#endif
