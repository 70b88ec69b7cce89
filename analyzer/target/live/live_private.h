/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_PRIVATE_H
#define RCORE_TARGET_LIVE_PRIVATE_H

#include "target/live/live.h"
#include "target/live/live_copy.h"
#include "target/live/pages/live_pages.h"
#include "target/live/live_sleepers.h"
#include "target/live/live_room.h"
#include "target/live/live_stop.h"

/* The id of a thread in rcore's pid namespace, and in its own. */
struct rcore_live_id {
	int outer, inner;
};

/* How many random bytes the kernel puts at AT_RANDOM. */
enum { RCORE_LIVE_DRAWN = 16 };

struct rcore_live {
	struct rcore_live_memory memory;
	struct rcore_live_pages pages;
	struct rcore_live_copy copy; /* empty: there is none */
	struct rcore_live_victim victim;
	struct rcore_process process;
	struct rcore_live_maps maps;
	struct rcore_arena arena;
	struct rcore_live_status status;
	/* Of /proc/PID or, if the main thread has ended, of memory.task. */
	int pid, folder;
	/* The bytes at AT_RANDOM, which the kernel draws for each program. */
	uint8_t drawn[RCORE_LIVE_DRAWN];
	bool has_drawn;
	bool has_executed;
	struct rcore_stop *stop; /* NULL: it runs */
	/* For how many ms it may be stopped; 0: the default. */
	unsigned most;
	bool never_waits; /* see rcore_live_never_wait() */
	/* When it was copied ahead, and stopped (CLOCK_MONOTONIC). */
	uint64_t copied_ns, stopped_ns;
	/*
	 * Set by rcore_live_note_sleepers(). is_ahead: begin() will stop a
	 * process that was copied ahead. is_quiet: no thread has run since.
	 */
	struct rcore_live_sleepers sleepers;
	bool is_ahead, is_quiet;
	struct {
		struct rcore_live_id *items;
		size_t count, capacity;
	} ids;
	struct {
		struct rcore_native_thread *items;
		size_t count, capacity;
	} threads; /* process.threads points to these */
};

#endif
