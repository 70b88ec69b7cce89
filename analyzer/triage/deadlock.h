/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_DEADLOCK_H
#define RCORE_TRIAGE_DEADLOCK_H

#include "base/error.h"
#include "model/snapshot.h"

/*
 * Sets snapshot->deadlocks from who waits for whom. An edge is certain, or is
 * none:
 *
 *   who waits for a lock   -> the fiber that holds it (up to 2.7 the thread: what it runs)
 * who waits for a thread -> the fiber that this thread runs, if it blocks the
 * thread; not where
 *                             the wait ends by itself in time
 *   a parked fiber         -> the fiber that its thread runs, if it blocks the thread: none of the
 *                             thread's others can run before
 *
 * Each cycle is a deadlock (of those that share fibers, the first met), and so
 * is a lock that a fiber holds which has ended. Queues and ConditionVariables
 * make none: anybody may push or signal. Error: NO_MEMORY.
 */
struct rcore_error *rcore_deadlocks_find(struct rcore_snapshot *snapshot);

#endif
