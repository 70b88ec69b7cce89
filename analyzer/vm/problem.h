/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_PROBLEM_H
#define RCORE_VM_PROBLEM_H

#include "base/error.h"
#include "layout/layout.h"
#include "model/snapshot.h"

/*
 * Turns an error into the `problem` of a part of the snapshot: takes ownership
 * of `err`, marks the snapshot as incomplete, and returns the message, copied
 * to the arena. Returns NULL for NULL.
 */
const char *rcore_problem(struct rcore_snapshot *snapshot, struct rcore_error *err);

/*
 * Does the same for a problem of the whole snapshot. Keeps at most
 * RCORE_PROBLEM_LIMIT, then adds one line that says there are more.
 */
void rcore_problem_add(struct rcore_snapshot *snapshot, struct rcore_error *err);

/*
 * Adds a problem that explains others, before all of them. If there are too
 * many, one of them is dropped.
 */
void rcore_problem_add_cause(struct rcore_snapshot *snapshot, struct rcore_error *err);

/*
 * Adds a problem of the whole snapshot the first time that an unmeasured field
 * is needed.
 */
void rcore_problem_unmeasured(struct rcore_snapshot *snapshot,
			      const struct rcore_layout *layout,
			      const struct rcore_field *field);

#endif
