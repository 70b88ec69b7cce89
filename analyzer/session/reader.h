/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_READER_H
#define RCORE_SESSION_READER_H

#include "image/elf/tls.h"
#include "ruby/ruby.h"
#include "session/layout/trial.h"

/*
 * The result of the steps identify and locate. It stays true as long as the
 * process runs: find it once, then read as often as you like.
 */
struct rcore_located {
	struct rcore_identity identity;
	bool is_found; /* false: the rest is unknown */
	struct rcore_location location;
	struct rcore_statics statics; /* set when they are found */
	/* What rcore_session_keep_thread_locals() has found. */
	bool has_profiler_state;
	struct rcore_tls_variable profiler_state;
};

/*
 * Stores a location, and the addresses of static variables that have symbols.
 * Error: NO_MEMORY.
 */
struct rcore_error *rcore_located_set(struct rcore_located *located,
				      const struct rcore_target *target,
				      const struct rcore_location *location);
void rcore_located_deinit(struct rcore_located *located);

/*
 * Prepares `ruby` to read objects of a located Ruby. Strings go to `arena`.
 * rcore_reader_deinit() stores what was found out about static variables in
 * `located`, for the next reader.
 */
void rcore_reader_init(struct rcore_ruby *ruby, const struct rcore_target *target,
		       const struct rcore_located *located, struct rcore_arena *arena);
void rcore_reader_deinit(struct rcore_ruby *ruby, struct rcore_located *located);

#endif
