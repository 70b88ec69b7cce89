/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_READER_H
#define RCORE_SESSION_READER_H

#include "ruby/ruby.h"
#include "session/trial.h"

/*
 * What the steps identify and locate found. It stays true as long as the
 * process runs: find it once, then read as often as you like.
 */
struct rcore_located {
	struct rcore_identity identity;
	bool is_found; /* false: what follows is unknown */
	struct rcore_location location;
	struct rcore_statics statics; /* filled in as they are found */
};

/* Stores a location, and what symbols say about statics. Error: NO_MEMORY. */
struct rcore_error *rcore_located_set(struct rcore_located *located,
				      const struct rcore_target *target,
				      const struct rcore_location *location);
void rcore_located_deinit(struct rcore_located *located);

/*
 * Prepares `ruby` to read objects of a located Ruby. Strings go to `arena`.
 * What it finds of statics is stored in `located` at the end, for whoever reads
 * next.
 */
void rcore_reader_init(struct rcore_ruby *ruby, const struct rcore_target *target,
		       const struct rcore_located *located, struct rcore_arena *arena);
void rcore_reader_deinit(struct rcore_ruby *ruby, struct rcore_located *located);

#endif
