/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_RUNNING_AHEAD_H
#define RCORE_SESSION_RUNNING_AHEAD_H

#include "session/load.h"
#include "session/running.h"

/*
 * Reads a running process and stops it as briefly as possible. A first reading,
 * while the process runs, shows which pages are needed. These are copied ahead,
 * and then the process is stopped.
 *
 *   - If no thread has run since, the copy is still what the process has. The
 *     process is resumed at once.
 *   - Otherwise the pages are copied again. Only the fibers whose struct or
 *     stacks have changed are decoded before the process is resumed, because
 *     they may lead to memory that the copy lacks.
 *
 * The copy is decoded after that. All of it is of the moment of the stop.
 */
struct rcore_ahead {
	/* The first reading; owned. */
	struct rcore_snapshot *first;
	/* Hashes of the fibers of `first` as they were copied ahead. */
	uint64_t *digests;
	/* Fibers with the same hash at the stop: rb_fiber_t to index. */
	struct rcore_address_map unchanged;
	/* Addresses of all fibers that were found last. */
	uint64_t *known;
	size_t known_count;
	struct rcore_running_fds fds;
};

/*
 * Reads the process. ahead->first must be set, all else begins with zeroes. The
 * caller owns ret->snapshot. Sets *pause as rcore_live_release() does; it stays
 * unchanged if the process was not stopped. Sets *ret_missed if something was
 * read after the stop; the process should then be read again. Errors:
 * NO_MEMORY, those of rcore_live_begin() and rcore_session_read(). Call
 * deinit() even after an error.
 */
struct rcore_error *rcore_ahead_read(struct rcore_ahead *ahead, struct rcore_session *session,
				     struct rcore_moment *ret, struct rcore_live_pause *pause,
				     bool *ret_missed);
void rcore_ahead_deinit(struct rcore_ahead *ahead);

#endif
