/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_DEADLOCK_H
#define RCORE_TRIAGE_DEADLOCK_H

#include "base/error.h"
#include "model/snapshot.h"

/*
 * Sets snapshot->deadlocks from the waits of fibers. There is an edge only if
 * the wait is certain:
 *
 *   waits for a lock    -> the fiber that holds it (up to 2.7, the fiber that
 *                          the thread runs that holds it)
 *   waits for a thread  -> the fiber that this thread runs, if it blocks the
 *                          thread
 *   waits for the interlock of Rails -> the current fibers of the threads that
 *                          hold it, or that go first to lock it
 *   waits for a task    -> the fiber of the task
 *   waits for an autoload -> the fiber that loads, if it is known
 *   a parked fiber      -> the fiber that its thread runs, if it blocks the
 *                          thread: no other fiber can run before
 *
 * A wait that has a timeout, or is in a block of Timeout.timeout, is no edge.
 * Each cycle is a deadlock; of cycles that share fibers, only the first one
 * found is reported. A lock held by a fiber that has ended is a deadlock, too.
 * A wait for a Queue or a ConditionVariable is no edge, because any thread may
 * push or signal. Error: NO_MEMORY.
 */
struct rcore_error *rcore_deadlocks_find(struct rcore_snapshot *snapshot);

#endif
