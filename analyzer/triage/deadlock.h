/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_DEADLOCK_H
#define RCORE_TRIAGE_DEADLOCK_H

#include "base/error.h"
#include "model/snapshot.h"

/*
 * Sets snapshot->deadlocks from who waits for whom. An edge is certain, or is
 * none:
 *
 *   waits for a lock    -> the fiber that holds it (up to 2.7, the fiber that
 *                          the thread runs that holds it)
 *   waits for a thread  -> the fiber that this thread runs, if it blocks the
 *                          thread, unless the wait has a timeout
 *   a parked fiber      -> the fiber that its thread runs, if it blocks the
 *                          thread: no other fiber can run before
 *
 * Each cycle is a deadlock (of those that share fibers, the first met), and so
 * is a lock that a fiber holds which has ended. Queues and ConditionVariables
 * make none: anybody may push or signal. Error: NO_MEMORY.
 */
struct rcore_error *rcore_deadlocks_find(struct rcore_snapshot *snapshot);

#endif
