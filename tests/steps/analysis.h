/* SPDX-License-Identifier: MIT */
#ifndef STEPS_ANALYSIS_H
#define STEPS_ANALYSIS_H

#include "rcore.h"
#include "target/live/live_memory.h"
#include "pages.h"
#include "tracee.h"

/* What /proc/PID/maps said. */
struct mapped {
	struct rcore_arena arena;
	struct rcore_live_maps maps;
};

/*
 * librcore on a tracee. Pages that were read are kept for one step, and the
 * session for as long as the same files are mapped.
 */
struct analysis {
	struct tracee *tracee;
	struct rcore_live *facts; /* arguments, auxiliary vector */
	struct mapped *mapped;    /* now */
	struct mapped *opened;    /* when the session was opened, which points into it */
	struct rcore_process process;
	size_t thread_capacity;
	int folder; /* of /proc/PID */
	struct rcore_live_memory memory;
	struct pages pages;
	struct rcore_options options;
	struct rcore_session *session;
};

void analysis_open(struct analysis *analysis, struct tracee *tracee);
void analysis_close(struct analysis *analysis);

/* Analyzes the tracee in its present state. */
struct rcore_error *analysis_load(struct analysis *analysis, struct rcore_snapshot **ret);

/*
 * Does the same in a session that knows nothing yet; and the same, with each
 * field of the layout proved.
 */
struct rcore_error *analysis_load_fresh(struct analysis *analysis, struct rcore_snapshot **ret);
struct rcore_error *analysis_check_fields(struct analysis *analysis,
					  struct rcore_snapshot **ret);

/*
 * Where the interpreter is in a thread: what changes when a frame is pushed or
 * a fiber is switched to.
 */
struct cursor {
	uint64_t ec, cfp;
};

/* `thread` is a rb_thread_t, 0: none. The layout is that of the last load. */
struct cursor analysis_cursor(struct analysis *analysis, uint64_t thread);

/*
 * What a frame shows, except its pc, which moves while it runs; and what its
 * environment shows.
 */
struct frame_words {
	uint64_t iseq, self, ep, environment[3];
};

struct frame_words analysis_frame(struct analysis *analysis, uint64_t cfp);

/* Whether this Ruby counts a frame before it fills it. */
bool analysis_pushes_first(const struct analysis *analysis);

#endif
