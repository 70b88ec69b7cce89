/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_REPORT_H
#define RCORE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/api.h"
#include "base/error.h"
#include "model/printed.h"
#include "model/snapshot.h"

/*
 * Writers: they print a snapshot and decide nothing. The command, GDB and LLDB
 * print through the same writer, so their output is the same byte for byte. All
 * strings of the target are escaped (control characters, invalid UTF-8) before
 * they leave.
 */
enum rcore_native_shown {
	RCORE_NATIVE_FOLDED, /* the interpreter's own native frames as a count */
	RCORE_NATIVE_ALL,
	RCORE_NATIVE_NONE, /* Ruby frames alone */
};

struct rcore_report_options {
	bool all; /* show each fiber and frame: nothing merged, nothing repeated left out */
	enum rcore_native_shown native;
	bool color;
	bool verbose;       /* addresses, and how things were found */
	bool no_stacks;     /* of threads, their lines alone */
	bool stacks;        /* of rcore_report_state(): with the stack of each */
	bool only_contexts; /* only fibers that have a context, unless one is named */
	/* Only this thread: "T2", a kernel thread id, a Thread VALUE or rb_thread_t ("0x7f..."). */
	const char *thread;
	/* Only this fiber: "T1.F3", a Fiber VALUE or rb_fiber_t ("0x7f..."). */
	const char *fiber;
	/* Only fibers whose context meets all of these: "key=value", or "key" for any value. */
	const char *const *where;
	size_t where_count;
	/* The folder that paths of CI formats are relative to; NULL: only relative paths are the
	 * application's own. */
	const char *source_root;
};

/* All three take NULL for the default options. A report that could not be written
 * whole (a full disk, a closed pipe) is an error of code OS. */

/* The report for people. USAGE when options name a thread or fiber that is not there,
 * with a list of what is. */
RCORE_API struct rcore_error *rcore_report_text(const struct rcore_snapshot *snapshot,
						const struct rcore_report_options *options,
						FILE *out);

/* The stack of one fiber, without the rest of the report: that of options->fiber, else the one that
 * options->thread runs, else as rcore_pick_one_fiber(). `frame` is the number of one Ruby frame to show
 * alone, or -1. USAGE as above, and where there is no such frame. */
RCORE_API struct rcore_error *rcore_report_stack(const struct rcore_snapshot *snapshot,
						 const struct rcore_report_options *options,
						 long frame, FILE *out);

/* What the same fiber is handling, as `rcore exception`. */
RCORE_API struct rcore_error *rcore_report_exception(const struct rcore_snapshot *snapshot,
						     const struct rcore_report_options *options,
						     FILE *out);

/* The same snapshot as JSON (docs/json.md): stable names, addresses as hex strings,
 * every field optional, "schema" first. */
RCORE_API struct rcore_error *rcore_report_json(const struct rcore_snapshot *snapshot,
						const struct rcore_report_options *options,
						FILE *out);

/*
 * For CI systems. Markdown: a section for each thread, at most 1 MiB (what GitHub takes as a step's
 * summary). The others say one thing, that a process crashed at a place of the application's
 * code, and nothing where no signal killed it: GitHub's workflow commands (ten annotations at most), SARIF 2.1.0,
 * JUnit XML (a failed case, or a passed one), GitLab's Code Quality.
 */
RCORE_API struct rcore_error *rcore_report_markdown(const struct rcore_snapshot *snapshot,
						    const struct rcore_report_options *options,
						    FILE *out);
RCORE_API struct rcore_error *rcore_report_github(const struct rcore_snapshot *snapshot,
						  const struct rcore_report_options *options,
						  FILE *out);
RCORE_API struct rcore_error *rcore_report_sarif(const struct rcore_snapshot *snapshot,
						 const struct rcore_report_options *options,
						 FILE *out);
RCORE_API struct rcore_error *rcore_report_junit(const struct rcore_snapshot *snapshot,
						 const struct rcore_report_options *options,
						 FILE *out);
RCORE_API struct rcore_error *rcore_report_gitlab(const struct rcore_snapshot *snapshot,
						  const struct rcore_report_options *options,
						  FILE *out);

/* The signature in clear text, and why each frame counts in it or not: `rcore explain`. */
RCORE_API struct rcore_error *rcore_report_explain(const struct rcore_snapshot *snapshot,
						   const struct rcore_report_options *options,
						   FILE *out);
RCORE_API struct rcore_error *
rcore_report_explain_json(const struct rcore_snapshot *snapshot,
			  const struct rcore_report_options *options, FILE *out);

/* Each fiber's context, one a line; fibers without one with options->all alone. */
RCORE_API struct rcore_error *rcore_report_state(const struct rcore_snapshot *snapshot,
						 const struct rcore_report_options *options,
						 FILE *out);
RCORE_API struct rcore_error *
rcore_report_state_json(const struct rcore_snapshot *snapshot,
			const struct rcore_report_options *options, FILE *out);

/* What each thread and fiber waits for, deadlocks first, then the locks: `rcore waits`. */
RCORE_API struct rcore_error *rcore_report_waits(const struct rcore_snapshot *snapshot,
						 const struct rcore_report_options *options,
						 FILE *out);
RCORE_API struct rcore_error *
rcore_report_waits_json(const struct rcore_snapshot *snapshot,
			const struct rcore_report_options *options, FILE *out);

/* What was found and how: `rcore doctor`. `error` is why the analysis gives up, or NULL. */
RCORE_API struct rcore_error *rcore_report_doctor(const struct rcore_snapshot *snapshot,
						  const struct rcore_error *error,
						  const struct rcore_report_options *options,
						  FILE *out);

/* Each field of the layout, proved or not (rcore_check_layout()): `rcore layout check`. */
RCORE_API struct rcore_error *rcore_report_check(const struct rcore_snapshot *snapshot,
						 const struct rcore_report_options *options,
						 FILE *out);

/* Values: each on a line as its inspect has it, with its problems on lines below; or as JSON. */
RCORE_API struct rcore_error *rcore_report_print(const struct rcore_print *print,
						 const struct rcore_report_options *options,
						 FILE *out);
RCORE_API struct rcore_error *rcore_report_print_json(const struct rcore_print *print,
						      FILE *out);

#endif
