/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_WAIT_TEXT_H
#define RCORE_MODEL_WAIT_TEXT_H

#include <stdio.h>

#include "model/wait.h"

/* Whether a fiber waits for a Mutex or Monitor. NULL-safe. */
static inline bool rcore_wait_is_for_lock(const struct rcore_wait *wait)
{
	return wait && (wait->kind == RCORE_WAIT_MUTEX || wait->kind == RCORE_WAIT_MONITOR);
}

/*
 * Whether a fiber waits for a lock, for room in a queue, for a connection or a
 * semaphore: others keep it from its work. NULL-safe.
 */
static inline bool rcore_wait_is_blocked(const struct rcore_wait *wait)
{
	return rcore_wait_is_for_lock(wait) ||
	       (wait && (wait->kind == RCORE_WAIT_PUSH || wait->kind == RCORE_WAIT_CONNECTION ||
			 wait->kind == RCORE_WAIT_SEMAPHORE));
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

/* Return constant names for JSON: "mutex", "vm". */
const char *rcore_lock_kind_name(enum rcore_lock_kind kind);
const char *rcore_wait_source_name(enum rcore_wait_source source);

#endif
