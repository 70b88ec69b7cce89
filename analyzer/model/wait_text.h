/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_WAIT_TEXT_H
#define RCORE_MODEL_WAIT_TEXT_H

#include <stdio.h>

#include "model/wait.h"

/* Returns "T3" if its thread has no other fiber, otherwise "T3.F2". */
const char *rcore_fiber_text(const struct rcore_snapshot *snapshot, int fiber);

/* Writes a lock and its owner, if any: "Mutex 0x7f12 held by T3". */
void rcore_lock_write(const struct rcore_snapshot *snapshot, enum rcore_lock_kind kind,
		      uint64_t object, uint64_t lock, const struct rcore_owner *owner,
		      FILE *out);

/* Return names for JSON that never change: "mutex", "vm". */
const char *rcore_lock_kind_name(enum rcore_lock_kind kind);
const char *rcore_wait_source_name(enum rcore_wait_source source);

#endif
