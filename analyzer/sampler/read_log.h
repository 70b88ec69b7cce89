/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_READ_LOG_H
#define RCORE_SAMPLER_READ_LOG_H

#include "sampler/stack/stack.h"
#include "target/live/live.h"
#include "target/memory.h"

/*
 * Notes what a decoder reads from a running process. If the process still has
 * the same bytes at all of these places, the decoder would find the same again.
 * One system call shows that; the decoder needs one for each word.
 */
struct rcore_read_log {
	/* must come first: the callback casts it back */
	struct rcore_memory memory;
	struct rcore_memory *below;
	struct {
		struct rcore_logged_read {
			uint64_t address;
			size_t size;
		} * items;
		size_t count, capacity;
	} reads;
	/* The bytes of all reads, and room for as many. */
	uint8_t *bytes;
	size_t used;
	bool is_whole; /* no read failed or was left out */
};

/* Empties the log. Reads of log->memory are noted from now on. */
void rcore_read_log_begin(struct rcore_read_log *log, struct rcore_memory *below);
/*
 * Returns whether all that was read still has the same bytes. What `copied` has
 * is not read from the process again.
 */
bool rcore_read_log_holds(struct rcore_read_log *log, struct rcore_live *live,
			  const struct rcore_piece *copied);
void rcore_read_log_deinit(struct rcore_read_log *log);

#endif
