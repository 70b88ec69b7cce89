/* SPDX-License-Identifier: MIT */
#ifndef RCORE_H
#define RCORE_H

/*
 * librcore: what a Ruby program was doing, from outside it.
 *
 *	struct rcore_session *session;
 *	struct rcore_snapshot *snapshot;
 *	struct rcore_error *err = rcore_open_core("core.1234", NULL, &session);
 *	if (!err)
 *		err = rcore_load(session, &snapshot);
 *	if (!err)
 *		err = rcore_report_text(snapshot, NULL, stdout);
 *	...
 *	rcore_snapshot_free(snapshot);
 *	rcore_close(session);
 *
 * The library never runs code of the target, never writes to it, never prints,
 * and never ends the process. It keeps no global state: sessions are independent,
 * one thread at a time in each.
 */

#include <stdbool.h>
#include <stdio.h>

#include "base/api.h"
#include "base/error.h"
#include "base/version.h"
#include "layout/layout.h"
#include "model/ids.h"
#include "model/printed.h"
#include "model/snapshot.h"
#include "report/converted.h"
#include "report/report.h"
#include "target/live_tree.h"
#include "target/memory.h"
#include "target/process.h"

/* All-zero means the defaults. Strings need not outlive the call. */
struct rcore_options {
	const char *executable;          /* the user's EXE */
	const char *sysroot;             /* prefix for every path of the target */
	const char *const *search_paths; /* folders searched by build-id and file name */
	size_t search_path_count;
	const char *layout_file; /* a table to use in place of the built-in ones */
	bool no_native;          /* Ruby stacks only: do not unwind machine stacks */
	bool no_stop;            /* of rcore_open_pid() */
	struct rcore_ids
		*ids; /* keeps ids from one load to the next; outlives the session. NULL:
				  each load numbers anew */
	struct rcore_choice
		*choice; /* the same for the layout that fits: a session that finds it
					proves it again, and does not choose anew. NULL: each chooses */
	bool record;     /* keep note of what is read, for rcore_pack() */
	enum rcore_redact
		redact; /* what to take out of snapshots, values and packs; a pack that was
				     redacted more stays so */
	struct rcore_locals_options values; /* what to read of each frame */
};

struct rcore_session;

/* NULL when memory is short. One process each. */
RCORE_API struct rcore_choice *rcore_choice_open(void);
RCORE_API void rcore_choice_close(struct rcore_choice *choice); /* NULL-safe */

/* Opens a core file. Errors as rcore_core_open() and rcore_modules_open(). */
RCORE_API struct rcore_error *rcore_open_core(const char *path,
					      const struct rcore_options *options,
					      struct rcore_session **ret);

/*
 * Opens a running process (rcore_process_tree() names a whole tree). rcore_load() stops it, copies what it needs, and lets it go before
 * it unwinds and names anything (snapshot->live says for how long it stood still), each time
 * anew; with options->no_stop it reads while the process runs. Whatever becomes of the caller,
 * the process runs on. Errors: OS (no such process, not allowed ...), USAGE (a thread's id),
 * UNSUPPORTED (32-bit), and as rcore_modules_open().
 */
RCORE_API struct rcore_error *rcore_open_pid(int pid, const struct rcore_options *options,
					     struct rcore_session **ret);

/* Opens a target that somebody else has stopped: a debugger. `process` (with all
 * it points to) and `memory` must outlive the session. */
RCORE_API struct rcore_error *rcore_open_memory(const struct rcore_process *process,
						struct rcore_memory *memory,
						const struct rcore_options *options,
						struct rcore_session **ret);

RCORE_API void rcore_close(struct rcore_session *session); /* NULL-safe */

/*
 * Decodes everything: ractors, threads, fibers, frames, cause. What could not be
 * read is in the snapshot (problems, problem of each part, incomplete). An error
 * only where nothing at all could be said: NOT_RUBY (no Ruby VM in the target),
 * NO_LAYOUT, FAULT or CORRUPT (the VM cannot be found or proved), OS (a file became shorter since it was
 * opened), NO_MEMORY. Files are mapped: one that is cut off in the midst of a call raises SIGBUS, which the
 * library leaves to its caller.
 * The caller frees the snapshot; it does not need the session any more.
 */
RCORE_API struct rcore_error *rcore_load(struct rcore_session *session,
					 struct rcore_snapshot **ret);
RCORE_API void rcore_snapshot_free(struct rcore_snapshot *snapshot); /* NULL-safe */

/*
 * Writes a copy of a core to `path` in which each parked fiber is a thread of its own, for debuggers
 * that know nothing of Ruby. `snapshot` is one of this session. *ret (the caller frees it) has
 * the fibers in the snapshot's order: those parked, and those that a kernel thread runs.
 * A fiber T2.F13 becomes LWP 20000013 (ids that have no such number follow from 5000000; both
 * are more than any kernel thread's). Errors: USAGE (no core; `path` is the core itself),
 * OS, FORMAT, NO_MEMORY; there is no file then.
 */
RCORE_API struct rcore_error *rcore_convert_fibers(struct rcore_session *session,
						   const struct rcore_snapshot *snapshot,
						   const char *path,
						   struct rcore_converted **ret, size_t *count);

/*
 * Writes a small core to `path` that holds what rcore_load() read of the session's core and what came out of
 * files for it: any rcore opens it, on a machine without these files, and comes to the same snapshot; GDB
 * reads it as a core. What nobody asked for reads as zero or as not saved. `snapshot` is of that
 * load, the session was opened with options->record. *ret_size: bytes written. Errors: OS, NO_MEMORY, USAGE
 * (no core, `path` is the core itself).
 */
RCORE_API struct rcore_error *rcore_pack(struct rcore_session *session,
					 const struct rcore_snapshot *snapshot,
					 const char *path, uint64_t *ret_size);

/*
 * What could be found without decoding the VM: version, modules, rung, layout,
 * proofs (also failed ones). Gives a snapshot wherever the target could be opened,
 * with `error` set to why rcore_load() would give up (NULL: it would not). A running
 * process is stopped for it, as by rcore_load().
 */
RCORE_API struct rcore_error *rcore_examine(struct rcore_session *session,
					    struct rcore_snapshot **ret,
					    struct rcore_error **error);

/* The same with the snapshot's field_checks: each field of the layout, proved or not. */
RCORE_API struct rcore_error *rcore_check_layout(struct rcore_session *session,
						 struct rcore_snapshot **ret,
						 struct rcore_error **error);

/*
 * rcore_load(), and where that gives up, what the core itself says (why it died): the snapshot
 * then has its `failure` set, and `failure` is the error of rcore_load() (NULL: it loaded).
 */
RCORE_API struct rcore_error *rcore_load_partial(struct rcore_session *session,
						 struct rcore_snapshot **ret,
						 struct rcore_error **failure);

/*
 * With which registers a fiber of the session's snapshot goes on when it is resumed: in the order of
 * rcore_native_thread, bit n of *known: register n is (CRuby's coroutine_transfer() saves those that a
 * callee must). The debuggers unwind its stack from them. false: it runs, has not begun or has ended, or
 * what it saved cannot be read.
 */
RCORE_API bool rcore_fiber_registers(struct rcore_session *session,
				     const struct rcore_fiber *fiber,
				     uint64_t registers[RCORE_MAX_REGISTERS], uint64_t *known);

/*
 * Reads values of the target by their VALUE (an address, or an immediate such as 0x14, true), or the values of constants.
 * What this Ruby's own inspect prints, with exceptions that ruby/inspect.h lists, and what they hold. The VM is looked for
 * once in a session; a running process stands still while the values are read. A value that cannot be read says
 * so itself. `options` may be NULL. Errors as rcore_load(), USAGE (no such constant, or not loaded yet). The caller frees it; it does not need the
 * session any more.
 */
RCORE_API struct rcore_error *rcore_print(struct rcore_session *session,
					  const struct rcore_subject *subjects, size_t count,
					  const struct rcore_inspect_options *options,
					  struct rcore_print **ret);
RCORE_API void rcore_print_free(struct rcore_print *print); /* NULL-safe */

/* The constants that `begun` may become: of "Foo::B" those of Foo that begin with B, as "Foo::...". What they
 * hold is not looked at. Errors as rcore_print(). The caller frees them. */
RCORE_API struct rcore_error *rcore_constant_names(struct rcore_session *session,
						   const char *begun, struct rcore_names **ret);
RCORE_API void rcore_names_free(struct rcore_names *names); /* NULL-safe */

#endif
