/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_WORKERS_H
#define RCORE_TRIAGE_WORKERS_H

#include "base/error.h"
#include "model/snapshot.h"

/*
 * Threads that do the same: threads with equal stacks, and threads that were
 * started at the same place, such as those of a pool.
 */

/* Returns the fiber that a living thread runs, or NULL if that is unknown. */
const struct rcore_fiber *rcore_worker_fiber(const struct rcore_thread *thread,
					     const struct rcore_snapshot *snapshot);

/*
 * Returns the outermost frame of the thread's own code: the block given to
 * Thread.new, or <main>. NULL: unknown. Frames of Ruby's own "<internal:...>"
 * files are skipped.
 */
const struct rcore_frame *rcore_worker_start(const struct rcore_thread *thread,
					     const struct rcore_snapshot *snapshot);

/*
 * Returns the innermost frame of the application on a fiber's stack, or NULL.
 */
const struct rcore_frame *rcore_application_frame(const struct rcore_fiber *fiber);

/*
 * Returns the index of the fiber that holds a lock. Up to Ruby 2.7, a thread
 * owns a Mutex; then it is the fiber that the thread runs. -1 if it is unknown.
 */
int rcore_owner_fiber(const struct rcore_snapshot *snapshot, const struct rcore_owner *owner);

/*
 * Returns the index of the fiber that a fiber waits for: the one that holds the
 * lock, the one that runs in the thread to be joined, or the one of the task.
 * Returns -1 if it waits for something else, or the fiber is unknown.
 */
int rcore_waited_fiber(const struct rcore_snapshot *snapshot, int fiber);

/*
 * Follows such waits to the last fiber, which waits for no other. Returns the
 * number of steps, and the last fiber in *ret. Returns 0 if there is a cycle,
 * or if the fiber itself is the last one.
 */
size_t rcore_wait_chain(const struct rcore_snapshot *snapshot, int fiber, int *ret);

/*
 * Returns the method's name in a label: "Pool#run" of "block (2 levels) in
 * Pool#run".
 */
const char *rcore_method_of_label(const char *label);

/*
 * Sets each thread's `is_idle`: it waits for work. An idle thread waits, no
 * frame of the application is on its stack, and nobody waits for its locks. If
 * it waits for a queue or a condition variable, frames of the method that
 * started the thread do not count, because they are the application's own pool.
 */
void rcore_idle_threads_find(struct rcore_snapshot *snapshot);

/*
 * Finds the living threads that have the same stack, status, wait and
 * `is_idle`, and fills snapshot->thread_groups and each thread's `group`. A
 * thread that died, that runs, or that has more fibers than one stays alone.
 * Groups are in the order of their first thread. If `merge_similar`, threads
 * with similar stacks are merged, too. Error: NO_MEMORY; then there are no
 * groups.
 */
struct rcore_error *rcore_thread_groups_find(struct rcore_snapshot *snapshot,
					     bool merge_similar);

#endif
