/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_NATIVE_PRIVATE_H
#define RCORE_SAMPLER_NATIVE_PRIVATE_H

#include "sampler/native/native.h"
#include "sampler/stack/stack_copy.h"
#include "weave/callers.h"

/*
 * A second session for the process. It has the files that are mapped now; the
 * sampler's own session lasts as long as the process runs.
 */
struct rcore_native {
	struct rcore_session *session;
	struct rcore_located *located; /* the session's */
	uint64_t mapped;               /* a hash of the mapped code */
	uint64_t looked;               /* when the maps were read */
	struct rcore_activation activation;
	/* Of all ticks, because one thread may show none. */
	struct rcore_callers callers;
	uint64_t core; /* the function that contains the instructions, or 0 */
	bool is_held;
	unsigned failures; /* in a row, to find what unwinding needs */
	/* Of this tick; NULL if it has no native frames. */
	struct rcore_snapshot *snapshot;

	/*
	 * For records of the BPF program: what the session reads, and a process
	 * whose only thread is that of the record.
	 */
	struct rcore_stack_copy copy;
	struct rcore_process process;
	struct rcore_native_thread thread;
};

/*
 * native_session.c: notices what the process loads, and finds what unwinding
 * needs. Looks once a second. If it fails, there is no session, and so there
 * are no native frames. Error: NO_MEMORY.
 */
struct rcore_error *rcore_native_follow(struct rcore_sampler *sampler, uint64_t now);

/*
 * native_node.c: returns the node of a woven stack. `track` has the Ruby frames
 * of `fiber`, which has steps; NULL: it has none.
 */
uint32_t rcore_native_woven_node(struct rcore_sampler *sampler, const struct rcore_track *track,
				 const struct rcore_fiber *fiber, bool in_gc);

#endif
