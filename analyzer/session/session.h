/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_H
#define RCORE_SESSION_H

/*
 * session/ turns a target, a file or a pid, into a snapshot that report/ can
 * print. Its steps are open, identify, locate, decode, weave, explain and
 * redact. Each step is one function in a header of that name, which gets the
 * results of the steps before it, not this handle. load.c calls them in order;
 * start there. layout/ chooses the layout, live/ looks at running processes,
 * pack/ writes packs, and heap/ has the steps of `rcore heap`.
 *
 * command/, cli/, plugin/ and tests include rcore.h, examine.h, inputs.h, and
 * this header (to open a target over memory of their own, or to read it with
 * decoders of their own). The other headers here are for session/, and for code
 * that needs single steps.
 */

#include "rcore.h"
#include "redact/redact.h"
#include "session/open.h"
#include "session/reader.h"
#include "target/live/live.h"
#include "target/output/inputs.h"
#include "vm/work/recognizer.h"

/* The most threads of a process for which the holder of the GVL is watched. */
enum { RCORE_GVL_THREADS = 256 };

struct rcore_moment;

/* What the caller of rcore_open_*() asked for. */
struct rcore_settings {
	struct rcore_locals_options values;
	enum rcore_redact redact;
	struct rcore_ids *ids; /* NULL: number anew each time */
	char *layout_file;     /* NULL: none */
	char *recognizer_file; /* NULL: none */
	bool no_stop, no_native, merge_similar;
	size_t max_pause_ms; /* 0: the default */
	bool exact;
	bool record_heap;
};

/* The copy that rcore_running_copy() made. */
struct rcore_copied {
	size_t bytes; /* 0: there is none */
	/* How long the process was stopped, and which of its threads. */
	uint64_t pause_ns;
	size_t thread_count, unstopped_count;
};

/*
 * An opened target and what is known about it. The caller of librcore has a
 * pointer to it.
 */
struct rcore_session {
	struct rcore_target target;
	struct rcore_settings settings;
	struct rcore_located located;            /* of the last search */
	struct rcore_choice own_choice, *choice; /* the caller's, or its own */
	/*
	 * choice->trial was proved for this reading of a running process,
	 * before the pages to copy were noted. So pages that only proofs need
	 * are not copied.
	 */
	bool is_proved;
	struct rcore_recognizers recognizers; /* of what fibers work on */
	struct rcore_redactor *redactor;
	bool has_learned;           /* the redactor knows this target */
	struct rcore_inputs inputs; /* empty: nobody asked for them yet */
	/* A process was resumed before its last reading was complete. */
	bool overdue;
	struct rcore_copied copied;
	/* Who held the GVL at the looks at a running process so far. */
	struct {
		uint64_t thread; /* rb_thread_t; 0: nobody */
		int tid;
		uint64_t waits;   /* of its kernel thread */
		uint64_t since;   /* when it was first seen, in nanoseconds */
		uint64_t stopped; /* when the process was stopped last */
		/*
		 * If the holder's tid is unknown while the process runs: the
		 * waits of all threads before the stop, and for how long these
		 * have been the same.
		 */
		struct rcore_live_thread_waits threads[RCORE_GVL_THREADS];
		uint64_t same_since[RCORE_GVL_THREADS];
		size_t thread_count;
	} gvl;
	/*
	 * Reads one moment of a running process, or of a pack of one. NULL for
	 * other targets.
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
