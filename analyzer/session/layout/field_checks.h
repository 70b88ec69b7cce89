/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_FIELD_CHECKS_H
#define RCORE_SESSION_FIELD_CHECKS_H

#include "session/reader.h"

/*
 * Fills snapshot->field_checks: whether each field of the layout was proved.
 * Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_check_fields(const struct rcore_target *target,
					       struct rcore_located *located,
					       struct rcore_snapshot *snapshot);

#endif
