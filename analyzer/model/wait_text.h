/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_WAIT_TEXT_H
#define RCORE_MODEL_WAIT_TEXT_H

#include <stdio.h>
#include <string.h>

#include "model/wait.h"

/* Whether a fiber waits for a Mutex or Monitor. NULL-safe. */
static inline bool rcore_wait_is_for_lock(const struct rcore_wait *wait)
{
	return wait && (wait->kind == RCORE_WAIT_MUTEX || wait->kind == RCORE_WAIT_MONITOR);
}

/*
 * Whether a fiber waits for a lock, for room in a queue, for a connection, a
 * semaphore or the interlock of Rails: others keep it from its work. NULL-safe.
 */
static inline bool rcore_wait_is_blocked(const struct rcore_wait *wait)
{
	return rcore_wait_is_for_lock(wait) ||
	       (wait &&
		(wait->kind == RCORE_WAIT_PUSH || wait->kind == RCORE_WAIT_CONNECTION ||
		 wait->kind == RCORE_WAIT_SEMAPHORE || wait->kind == RCORE_WAIT_INTERLOCK));
}

/* Returns "T3" if its thread has no other fiber, otherwise "T3.F2". */
const char *rcore_fiber_text(const struct rcore_snapshot *snapshot, int fiber);

/* Writes what a fiber waits for: "Queue 0x7f12", "Async::Semaphore 0x7f12". */
void rcore_wait_object_write(const struct rcore_wait *wait, FILE *out);

/* Writes a lock and its owner, if any: "Mutex 0x7f12 held by T3". */
void rcore_lock_write(const struct rcore_snapshot *snapshot, enum rcore_lock_kind kind,
		      uint64_t object, uint64_t lock, const struct rcore_owner *owner,
		      FILE *out);

/*
 * The parts of what rcore_wait_write() writes: the wait, and ", within
 * Timeout.timeout(5)" if it is in such a block.
 */
void rcore_wait_write_alone(const struct rcore_snapshot *snapshot,
			    const struct rcore_wait *wait, FILE *out);
void rcore_wait_within_write(const struct rcore_wait *wait, FILE *out);

/*
 * Sorts the pools for rcore_wait_pool(), which finds none before. Call it again
 * if snapshot->pools changes. Returns false if memory is short.
 */
bool rcore_pools_index(struct rcore_snapshot *snapshot);

/* Returns the pool for which a fiber waits; NULL: none. */
const struct rcore_pool *rcore_wait_pool(const struct rcore_snapshot *snapshot,
					 const struct rcore_wait *wait);

/* Whether it waits to lock the interlock of Rails, not to share it. */
static inline bool rcore_wait_is_exclusive(const struct rcore_wait *wait)
{
	return wait->wants && !strcmp(wait->wants, "lock");
}

/* At most so many holders of the interlock are looked at. */
enum { RCORE_INTERLOCK_HOLDERS = 64 };

/*
 * Finds the fibers that hold the interlock for which another fiber waits. Fills
 * `ret`, which has room for RCORE_INTERLOCK_HOLDERS of them, and returns their
 * number. If the interlock is not locked and the other fiber does not want to
 * lock it, finds those that want to lock it instead (rcore_pool.first).
 */
size_t rcore_interlock_holders(const struct rcore_snapshot *snapshot,
			       const struct rcore_wait *wait, int *ret);

/*
 * Writes "waits to lock the Rails interlock 0x7f12 shared by T3". If `holder`
 * is not -1, names only this fiber.
 */
void rcore_interlock_write(const struct rcore_snapshot *snapshot, const struct rcore_wait *wait,
			   int holder, FILE *out);

/* Writes "T3 T4 T5 and 2 more". */
void rcore_fibers_write(const struct rcore_snapshot *snapshot, const int *fibers, size_t count,
			FILE *out);

#endif
