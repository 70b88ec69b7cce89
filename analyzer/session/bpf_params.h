/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_BPF_PARAMS_H
#define RCORE_SESSION_BPF_PARAMS_H

#include "model/ruby.bpf.h"
#include "rcore.h"

/*
 * Fills the constants with which a BPF program reads this process. `snapshot`
 * is what rcore_load() has read from the session; `keys` are names of Symbols.
 * Errors: UNSUPPORTED if the C library is not glibc or the layout lacks a
 * field; CORRUPT if no thread shows where its execution context is, or there is
 * no Symbol of that name; USAGE if there are too many keys; OS; NO_MEMORY.
 */
struct rcore_error *rcore_bpf_params(struct rcore_session *session,
				     const struct rcore_snapshot *snapshot,
				     const char *const *keys, size_t key_count,
				     struct rcore_ruby_params *ret);

/*
 * Does the same without stopping a running process: it takes the places of
 * thread-local variables from those of another process with the same Ruby, and
 * checks them on `threads` (rb_thread_t). Returns false if they are wrong for
 * this process, or if something else is missing.
 */
bool rcore_bpf_params_like(struct rcore_session *session, const uint64_t *threads, size_t count,
			   const struct rcore_ruby_params *known,
			   struct rcore_ruby_params *ret);

#endif
