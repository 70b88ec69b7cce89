/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_BPF_PLACE_H
#define RCORE_SESSION_BPF_PLACE_H

#include "model/ruby.bpf.h"
#include "rcore.h"

/*
 * Finds where each thread stores its execution context and its context of the
 * gem ruby-profiler: sets `ec`, `state`, `thread_pointer` and `dtv`.
 *
 * Before 3.0, one exported variable contains the execution context of the
 * thread that holds the GVL. Since then, ruby_current_ec is a thread-local
 * variable of the module that contains the VM; since 3.3, it is hidden. So
 * rcore searches the module's block for the one word that is 0 or an execution
 * context of this VM in every thread, and that is the thread's own in at least
 * one.
 *
 * Errors: UNSUPPORTED if the C library is not glibc; CORRUPT if there is no
 * such word, or more than one.
 */
struct rcore_error *rcore_bpf_places(struct rcore_session *session,
				     const struct rcore_snapshot *snapshot,
				     struct rcore_ruby_params *params);

/*
 * Does the same without stopping a running process. `known` comes from a
 * process with the same Ruby. Returns whether its places are right for all of
 * `threads` (rb_thread_t) that run, and whether at least one of them runs.
 */
bool rcore_bpf_places_hold(struct rcore_session *session, const uint64_t *threads, size_t count,
			   const struct rcore_ruby_params *known,
			   struct rcore_ruby_params *params);

#endif
