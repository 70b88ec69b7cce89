/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_REDACT_H
#define RCORE_SESSION_REDACT_H

#include "redact/redact.h"
#include "session/open.h"

/* The last step: removes from an answer what the user wants removed. */

/*
 * Returns the stricter of what the caller wants and what a pack was made with.
 */
enum rcore_redact rcore_session_redact_mode(const struct rcore_target *target,
					    enum rcore_redact wanted);

/*
 * Replaces *redactor by one that knows the values under keys such as password
 * in this snapshot, which was decoded with all values. Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_learn(enum rcore_redact mode, struct rcore_snapshot *snapshot,
					struct rcore_redactor **redactor);

/* Redacts a snapshot, and sets snapshot->redaction. Error: NO_MEMORY. */
struct rcore_error *rcore_session_redact(const struct rcore_target *target,
					 enum rcore_redact mode,
					 struct rcore_redactor *redactor,
					 struct rcore_snapshot *snapshot);

#endif
