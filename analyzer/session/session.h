/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_H
#define RCORE_SESSION_H

/*
 * session/ takes a target, step by step, from its file or pid to a snapshot
 * that report/ can print: open, identify, locate, decode, weave, explain,
 * redact. A step is one function in a header of that name; it takes what the
 * steps before it found, not this handle. Start with load.c, which calls them
 * in order. command/, cli/, plugin/ and tests include rcore.h, this header (to
 * open a target over memory of their own, or to read it with decoders of their
 * own), examine.h and inputs.h; the other headers here are for session/ and
 * whoever builds on single steps.
 */

#include "rcore.h"
#include "redact/redact.h"
#include "session/open.h"
#include "session/reader.h"
#include "target/output/inputs.h"
#include "vm/work/recognizer.h"

struct rcore_moment;

/* What the caller of rcore_open_*() wants. */
struct rcore_settings {
	struct rcore_locals_options values;
	enum rcore_redact redact;
	struct rcore_ids *ids; /* NULL: number anew each time */
	char *layout_file;     /* NULL: none */
	char *recognizer_file; /* NULL: none */
	bool no_stop, no_native;
};

/*
 * An opened target and what is known about it: what the caller of librcore
 * holds.
 */
struct rcore_session {
	struct rcore_target target;
	struct rcore_settings settings;
	struct rcore_located located;            /* of the last look */
	struct rcore_choice own_choice, *choice; /* the caller's, or its own */
	struct rcore_recognizers recognizers;    /* of what fibers work on */
	struct rcore_redactor *redactor;
	bool has_learned;           /* the redactor knows this target's secrets */
	struct rcore_inputs inputs; /* empty: nobody asked for them yet */
	/*
	 * Reads one moment of a running process; NULL: the target stands still.
	 */
	struct rcore_error *(*read)(struct rcore_session *session, struct rcore_moment *ret);
};

/*
 * Opens `process` and `memory`, which must outlive the session. Does not look
 * at options->size. Errors: as rcore_modules_open().
 */
struct rcore_error *rcore_session_open(const struct rcore_process *process,
				       struct rcore_memory *memory,
				       const struct rcore_options *options,
				       struct rcore_session **ret);

#endif
