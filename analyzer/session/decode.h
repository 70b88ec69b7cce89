/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_DECODE_H
#define RCORE_SESSION_DECODE_H

#include "base/address_map.h"
#include "session/reader.h"
#include "vm/stack/instructions.h"
#include "vm/work/recognizer.h"

/*
 * The fourth step: reads Ractors, threads, fibers, frames, their values, and
 * what each waits for. It reads the target's memory, so a running process is
 * stopped for it.
 */

struct rcore_decode_options {
	struct rcore_locals_options values;
	bool hides_text; /* replaces the contents of Strings with stars */
	const struct rcore_recognizers *recognizers;
};

/* One moment of a target, and what later steps need besides the snapshot. */
struct rcore_moment {
	struct rcore_snapshot *snapshot;
	struct rcore_instructions instructions; /* for the search in weave.h */
};

/*
 * Fills a snapshot that rcore_session_look() has described. What cannot be read
 * is noted where it belongs. Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_decode(const struct rcore_target *target,
					 struct rcore_located *located,
					 const struct rcore_decode_options *options,
					 struct rcore_moment *moment);

/*
 * The functions below read what needs more than the VM's memory: modules,
 * registers or the environment.
 */

/*
 * Compares each running fiber's context with the one to which
 * ruby_profiler_state points, the thread-local variable of the gem
 * ruby-profiler. Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_thread_locals(const struct rcore_target *target,
						const struct rcore_located *located,
						struct rcore_ruby *ruby,
						struct rcore_snapshot *snapshot);

/*
 * Before the process is stopped, reads what rcore_session_thread_locals() will
 * read, so that the copy of its memory contains it. There are no registers yet,
 * so this uses pthread_t as the thread pointer. Stores where the variable is in
 * `located`: to search hundreds of modules for it would prolong the stop.
 */
void rcore_session_keep_thread_locals(const struct rcore_target *target,
				      struct rcore_located *located,
				      const struct rcore_snapshot *snapshot);

/*
 * Finds the thread-local variable ruby_profiler_state. Returns false if no
 * module defines it.
 */
bool rcore_session_profiler_state(struct rcore_modules *modules,
				  struct rcore_tls_variable *ret);

/*
 * Fills the empty map `ret` with the indices of the native threads by their
 * ids. Returns false if memory is short; free the map in any case.
 */
bool rcore_session_index_tids(const struct rcore_process *process,
			      struct rcore_address_map *ret);

/*
 * Finds the thread pointer of the native thread that runs `thread`, in its
 * registers, and its pthread_t, in the VM. On x86-64, they are the same. On
 * aarch64, the thread pointer is the end of the struct pthread. Returns false
 * if `thread` has no native thread, or if the two contradict each other. `tids`
 * is from rcore_session_index_tids().
 */
struct rcore_pthread {
	uint64_t pointer, pthread;
};
bool rcore_session_pthread(const struct rcore_process *process,
			   const struct rcore_address_map *tids, struct rcore_memory *memory,
			   const struct rcore_layout *layout, const struct rcore_thread *thread,
			   struct rcore_pthread *ret);

/* Reads the pthread_t of a Ruby thread. Returns false if it cannot be read. */
bool rcore_session_read_pthread(struct rcore_memory *memory, const struct rcore_layout *layout,
				uint64_t thread, uint64_t *ret);

/*
 * Sets snapshot->facts.rubyopt, and the service, release and host that the
 * environment names now (deployment.h). Keeps nothing else of the environment.
 */
void rcore_session_environment(const struct rcore_target *target,
			       const struct rcore_module *ruby,
			       struct rcore_snapshot *snapshot);

#endif
