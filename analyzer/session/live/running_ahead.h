/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_RUNNING_AHEAD_H
#define RCORE_SESSION_RUNNING_AHEAD_H

#include "session/load.h"
#include "session/live/running.h"

enum { RCORE_AHEAD_PARTS = 3 }; /* the struct and both stacks */

/*
 * Reads a running process and stops it as briefly as possible. A first reading,
 * while the process runs, shows which pages are needed. These are copied ahead,
 * and then the process is stopped.
 *
 *   - If no thread has run since, the copy is still what the process has. The
 *     process is resumed at once.
 *   - Otherwise the pages are copied again, except for stacks of parked
 *     fibers that rest: those of threads that have slept, and if there are many
 *     stacks, those of any fiber whose struct, which contains its saved stack
 *     pointer and control frame, has not changed. Only the fibers that have
 *     changed are decoded before the process is resumed, because they may lead
 *     to memory that the copy lacks.
 *
 * The copy is decoded after that. All of it is of the moment of the stop,
 * except for stacks that rested. Unless its thread has slept all the time, such
 * a fiber may have run and have been parked again at the same depth of both
 * stacks, so it is marked. Only a compacting GC of another thread writes to the
 * stacks of fibers that do not run (rb_execution_context_update() of vm.c);
 * rcore does not notice that.
 */
struct rcore_ahead {
	/* The first reading; owned. */
	struct rcore_snapshot *first;
	/* The fibers of `first` as they were copied ahead. */
	struct rcore_ahead_fiber {
		uint64_t digests[RCORE_AHEAD_PARTS];
		/* the pages of its struct */
		struct rcore_live_span head;
		bool is_as_first; /* the copy has it as `first` does */
		bool may_run;     /* it was current and not waiting */
		bool rests;       /* its stacks need not be copied again */
	} * fibers;
	/* The threads of `first`. */
	struct rcore_ahead_thread {
		bool has_resting; /* fibers, before the stop */
		bool slept;       /* from the copy to the stop */
	} * threads;
	bool is_exact; /* only stacks of threads that have slept rest */
	/* Which of them were the same at the stop, and still existed. */
	struct rcore_earlier_fibers earlier;
	/* What else was found while the process was stopped; owned. */
	struct rcore_snapshot *changed;
	/* Addresses of all fibers that were found last. */
	uint64_t *known;
	size_t known_count;
	struct rcore_running_fds fds;
	struct rcore_running_gaps gaps; /* of the threads of `first` */
};

/*
 * Reads the process. ahead->first must be set, the other members must be zero.
 * The caller owns ret->snapshot. Sets *pause as rcore_live_release() does; it
 * stays unchanged if the process was not stopped. Sets *ret_missed if something
 * was read after the stop; the process should then be read again. Errors:
 * NO_MEMORY, those of rcore_live_begin() and rcore_session_read(). Call
 * deinit() even after an error.
 */
struct rcore_error *rcore_ahead_read(struct rcore_ahead *ahead, struct rcore_session *session,
				     struct rcore_moment *ret, struct rcore_live_pause *pause,
				     bool *ret_missed);
void rcore_ahead_deinit(struct rcore_ahead *ahead);

#endif
