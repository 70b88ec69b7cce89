/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_PACK_HIDE_H
#define RCORE_SESSION_PACK_HIDE_H

#include "redact/known_secrets.h"
#include "redact/redact.h"
#include "session/open.h"
#include "target/pack/core_pack.h"

/*
 * Marks the recorded memory that a pack must not contain, and adds what it
 * recognizes as a secret in contents of Strings to `taken`. `redactor` has
 * learned from the target. Error: NO_MEMORY.
 */
struct rcore_error *
rcore_session_hide(const struct rcore_target *target, const struct rcore_pack_source *source,
		   const struct rcore_redactor *redactor, enum rcore_redact mode,
		   const struct rcore_snapshot *snapshot, struct rcore_known_secrets *taken);

#endif
