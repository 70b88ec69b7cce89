/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_REDACT_H
#define RCORE_SESSION_REDACT_H

#include "redact/redact.h"
#include "session/open.h"

/* The last step: removes what the user wants removed from an answer. */

/*
 * Returns the stricter mode: that of the caller, or that with which a pack was
 * written.
 */
enum rcore_redact rcore_session_redact_mode(const struct rcore_target *target,
					    enum rcore_redact wanted);

/*
 * Replaces *redactor by one that knows the values under keys such as password
 * in this snapshot, which must be decoded with all values. Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_learn(enum rcore_redact mode, struct rcore_snapshot *snapshot,
					struct rcore_redactor **redactor);

/* Redacts a snapshot, and sets snapshot->redaction. Error: NO_MEMORY. */
struct rcore_error *rcore_session_redact(const struct rcore_target *target,
					 enum rcore_redact mode,
					 struct rcore_redactor *redactor,
					 struct rcore_snapshot *snapshot);

#endif
