/* SPDX-License-Identifier: MIT */
#ifndef RCORE_H
#define RCORE_H

/*
 * librcore shows what a Ruby process is doing, or was doing when it died. It
 * reads core files, running processes, and the memory that a debugger reads for
 * it.
 *
 *	struct rcore_session *session = NULL;
 *	struct rcore_snapshot *snapshot = NULL;
 *	struct rcore_error *err = rcore_open_core("core.1234", NULL, &session);
 *	if (!err)
 *		err = rcore_load(session, &snapshot);
 *	if (!err)
 *		err = rcore_report(snapshot, "text", NULL, stdout);
 *	if (err)
 *		fprintf(stderr, "%s\n", err->message);
 *	rcore_error_free(err);
 *	rcore_snapshot_free(snapshot);
 *	rcore_close(session);
 *
 * The library never runs code of the target, never writes to it, never prints
 * unless asked to, and never ends its own process. It has no global state: use
 * one session from one thread at a time, and as many sessions as you like.
 * Errors are described in base/error_code.h, a snapshot in model/snapshot.h.
 *
 * Options. The caller sets the first member, `size`, of each struct of options
 * to its sizeof and zeroes what it does not need:
 *
 *	struct rcore_options options = {
 *		.size = sizeof(options),
 *		.no_native = true,
 *	};
 *
 * New members are added at the end. If a program was compiled with older
 * headers, librcore uses the defaults for what the program does not know. If it
 * was compiled with newer ones and sets a member that librcore does not know,
 * the error is USAGE; it is USAGE, too, if `size` is 0. A NULL pointer means
 * all defaults.
 *
 * Compatibility. Programs need not be recompiled for a later librcore.so.0:
 * - A symbol keeps its version (RCORE_0.1 ...) and its meaning. New ones get a
 *   new version. librcore.map in the sources lists all of them.
 * - librcore allocates snapshots and prints. A later release adds members only
 *   at the end of struct rcore_snapshot, rcore_thread, rcore_fiber, rcore_frame
 *   and rcore_native_frame, which functions in model/snapshot.h return, and of
 *   rcore_print. No other struct without a `size` changes.
 * - A later release may add constants to an enum: expect values that you do not
 *   know.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/api.h"
#include "base/error_code.h"
#include "base/version.h"
#include "model/converted.h"
#include "model/ids.h"
#include "model/memory.h"
#include "model/printed.h"
#include "model/process.h"
#include "model/report_options.h"
#include "model/snapshot.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rcore_session;
struct rcore_choice;

/* How to open a target. librcore copies what it needs. */
struct rcore_options {
	size_t size;            /* sizeof(struct rcore_options) */
	const char *executable; /* the program's file; NULL: find it */
	/* A prefix for all paths of the target; NULL: none. */
	const char *sysroot;
	/* Folders to search by build-id and file name. */
	const char *const *search_paths;
	size_t search_path_count;
	/* A table to use instead of the built-in ones. */
	const char *layout_file;
	/* Read Ruby stacks only, do not unwind machine stacks. */
	bool no_native;
	/* rcore_open_pid(): read the process while it runs. */
	bool no_stop;
	/* Keep ids between loads; NULL: number anew each time. */
	struct rcore_ids *ids;
	/* Keep the layout between sessions; NULL: do not. */
	struct rcore_choice *choice;
	bool record; /* note what is read, for rcore_pack() */
	/* What to remove; a pack keeps what was removed from it. */
	enum rcore_redact redact;
	struct rcore_locals_options values; /* what to read of each frame */
	/*
	 * A file with entries like those of recognizers.json, which find what a
	 * fiber works on; NULL: none but the built-in ones.
	 */
	const char *recognizer_file;
	/*
	 * Merge also threads and fibers whose stacks differ only in the line of
	 * the innermost frame, or in the depth of a recursion.
	 */
	bool merge_similar;
	/*
	 * rcore_open_pid(): resume the process after this many milliseconds at
	 * the latest. What has not been read by then is read afterwards and
	 * marked, or is an error of functions that cannot mark it. 0: 2 s, and
	 * what has not been read is missing.
	 */
	size_t max_pause_ms;
	/*
	 * rcore_open_pid(): copy the stacks of all parked fibers while the
	 * process is stopped. Otherwise, if they are many, those of fibers
	 * whose struct does not change are copied just before the stop. Fibers
	 * that may have run since then are marked (rcore_fiber.stack_age_ns).
	 */
	bool exact;
	/*
	 * With `record`: note all memory that the target has written, too, so
	 * that the pack has the whole heap. A running process is stopped once,
	 * while all of this is copied, and not at all if that would take longer
	 * than max_pause_ms (500 if that is 0). Not with `redact` or `no_stop`.
	 */
	bool record_heap;
};

/*
 * Returns an object that keeps the layout that fits a process, or NULL if
 * memory is short. A later session on the same process checks that layout again
 * instead of searching for one. It must outlive the sessions that use it.
 */
RCORE_API struct rcore_choice *rcore_choice_open(void);

/* Frees it. Does nothing for NULL. */
RCORE_API void rcore_choice_close(struct rcore_choice *choice);

/*
 * Opens a core file, compressed or not, or a pack. The caller closes *ret with
 * rcore_close(). Errors: OS, FORMAT (not a core), UNSUPPORTED (32-bit, or
 * another machine), NO_MEMORY, USAGE.
 */
RCORE_API struct rcore_error *rcore_open_core(const char *path,
					      const struct rcore_options *options,
					      struct rcore_session **ret);

/*
 * Opens a running process. Each rcore_load() stops it, copies what it needs,
 * and resumes it before it unwinds and names anything; snapshot->live says for
 * how long it was stopped. The process resumes even if the caller is killed.
 * Errors: OS (no such process, no permission ...), USAGE (the id of a thread),
 * UNSUPPORTED (32-bit), NO_MEMORY.
 */
RCORE_API struct rcore_error *rcore_open_pid(int pid, const struct rcore_options *options,
					     struct rcore_session **ret);

/*
 * Opens a target that the caller, such as a debugger, has stopped. The session
 * calls memory->read() for its bytes. `memory` and everything that `process`
 * points to must outlive the session. Errors: FORMAT, UNSUPPORTED, NO_MEMORY,
 * USAGE.
 */
RCORE_API struct rcore_error *rcore_open_memory(const struct rcore_process *process,
						struct rcore_memory *memory,
						const struct rcore_options *options,
						struct rcore_session **ret);

/* Closes a session. Snapshots and prints stay valid. Does nothing for NULL. */
RCORE_API void rcore_close(struct rcore_session *session);

/*
 * Decodes everything: Ractors, threads, fibers, frames, and why the process
 * died. What could not be read is in the snapshot (problems, incomplete, the
 * problem of each part). The caller frees *ret with rcore_snapshot_free(); it
 * does not need the session.
 *
 * Errors, if nothing could be decoded: NOT_RUBY, NO_LAYOUT, FAULT or CORRUPT
 * (the VM was not found), OS (a file became shorter after it was opened; a
 * process has ended), NO_MEMORY. Files are mapped: if one is truncated during
 * the call, the kernel sends SIGBUS, which librcore does not catch.
 */
RCORE_API struct rcore_error *rcore_load(struct rcore_session *session,
					 struct rcore_snapshot **ret);

/*
 * Does the same, but if nothing of Ruby can be decoded, still returns a
 * snapshot with what the target itself says, such as the signal that killed it.
 * *failure is then the error of rcore_load(), otherwise NULL; the caller frees
 * it, too.
 */
RCORE_API struct rcore_error *rcore_load_partial(struct rcore_session *session,
						 struct rcore_snapshot **ret,
						 struct rcore_error **failure);

/* Frees a snapshot and all it points to. Does nothing for NULL. */
RCORE_API void rcore_snapshot_free(struct rcore_snapshot *snapshot);

/*
 * Writes a report to `out`, as `rcore analyze --format FORMAT` does. Formats:
 * "text", "json" (docs/json.md), "html", "markdown", and for CI systems
 * "github", "gitlab", "sarif" and "junit". Bytes of the target are escaped.
 * Errors: USAGE (no such format, or the options name a thread or fiber that
 * does not exist), OS (it could not be written), NO_MEMORY.
 */
RCORE_API struct rcore_error *rcore_report(const struct rcore_snapshot *snapshot,
					   const char *format,
					   const struct rcore_report_options *options,
					   FILE *out);

/* How to print values. */
struct rcore_print_options {
	size_t size; /* sizeof(struct rcore_print_options) */
	struct rcore_inspect_options inspect;
};

/*
 * Reads values of the target, by VALUE or by the name of a constant, and what
 * this Ruby's own inspect prints for them. A running process is stopped while
 * they are read. A value that cannot be read, or whose constant does not exist,
 * has a `problem`. The caller frees *ret with rcore_print_free(); it does not
 * need the session. Errors: as rcore_load(), and USAGE (all are constants
 * that do not exist, or are not loaded yet).
 */
RCORE_API struct rcore_error *rcore_print(struct rcore_session *session,
					  const struct rcore_subject *subjects, size_t count,
					  const struct rcore_print_options *options,
					  struct rcore_print **ret);

/* Frees a print and all it points to. Does nothing for NULL. */
RCORE_API void rcore_print_free(struct rcore_print *print);

/*
 * Writes values to `out` as `rcore print` does: "text", a line for each, or
 * "json". Errors: USAGE (no such format), OS, NO_MEMORY.
 */
RCORE_API struct rcore_error *rcore_report_print(const struct rcore_print *print,
						 const char *format,
						 const struct rcore_report_options *options,
						 FILE *out);

/*
 * Writes a small core to `path`, with what rcore_load() read of the session's
 * core or running process, and of the files it needed. Every rcore opens it, on
 * any machine, and finds the same snapshot; GDB opens it as a core. Memory that
 * was not read is not in it, unless options.record_heap was set. `snapshot` is
 * of the last load; the session was opened with options.record. *ret_size is
 * the number of bytes written. Errors: USAGE (a target of rcore_open_memory(),
 * or `path` is the core itself), OS, NO_MEMORY.
 */
RCORE_API struct rcore_error *rcore_pack(struct rcore_session *session,
					 const struct rcore_snapshot *snapshot,
					 const char *path, uint64_t *ret_size);

/*
 * Writes a copy of a core to `path` in which each parked fiber is a thread, for
 * debuggers that do not know Ruby. `snapshot` is of this session. *ret has
 * `*count` rows, in the order of the snapshot's fibers: those that are parked
 * and those that a kernel thread runs. The caller passes *ret to free(3). Fiber
 * T2.F13 becomes LWP 20000013; a fiber whose id has no such number gets one
 * from 5000000 on. Both exceed any kernel thread's id. Errors: USAGE (not a
 * core, or `path` is the core itself), OS, FORMAT, NO_MEMORY; there is then no
 * file.
 */
RCORE_API struct rcore_error *rcore_convert_fibers(struct rcore_session *session,
						   const struct rcore_snapshot *snapshot,
						   const char *path,
						   struct rcore_converted **ret, size_t *count);

/*
 * Gets the registers with which a parked fiber resumes, in the order of struct
 * rcore_native_thread. Bit n of *known is set if register n is known: those
 * that CRuby's coroutine_transfer() (coroutine/) saves. Debuggers unwind its
 * stack from them. `fiber` is of a snapshot of this session. Returns false if
 * the fiber runs, has not begun or has ended, or if its registers cannot be
 * read.
 */
RCORE_API bool rcore_fiber_registers(struct rcore_session *session,
				     const struct rcore_fiber *fiber,
				     uint64_t registers[RCORE_MAX_REGISTERS], uint64_t *known);

#ifdef __cplusplus
}
#endif

#endif
