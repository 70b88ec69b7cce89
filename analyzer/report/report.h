/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_REPORT_H
#define RCORE_REPORT_REPORT_H

/*
 * report/ writes a snapshot and decides nothing: text/ for people, json/ as
 * data, ci/ for CI systems. formats.h lists every format. Start here.
 */

#include <stdio.h>

#include "base/error.h"
#include "model/printed.h"
#include "model/report_options.h"
#include "model/snapshot.h"

/*
 * Writers: they print a snapshot and decide nothing. The command, GDB and LLDB
 * print through the same writer, so their output is the same byte for byte. All
 * strings of the target are escaped (control characters, invalid UTF-8) before
 * they leave. They do not look at rcore_report_options.size: rcore_report(),
 * which is public, does (session/report.c).
 */

/*
 * Most take NULL for the default options. If a report could not be written
 * whole (a full disk, a closed pipe), the error is OS.
 */

/*
 * The report for people. USAGE when options name a thread or fiber that is not
 * there, with a list of what is.
 */
struct rcore_error *rcore_report_text(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options, FILE *out);

/*
 * The stack of one fiber, without the rest of the report: that of
 * options->fiber, else the one that options->thread runs, else as
 * rcore_pick_one_fiber(). `frame` is the number of one Ruby frame to show
 * alone, or -1. USAGE as above, and where there is no such frame.
 */
struct rcore_error *rcore_report_stack(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, long frame,
				       FILE *out);

/* What the same fiber is handling, as `rcore exception`. */
struct rcore_error *rcore_report_exception(const struct rcore_snapshot *snapshot,
					   const struct rcore_report_options *options,
					   FILE *out);

/*
 * The same snapshot as JSON (docs/json.md): stable names, addresses as hex
 * strings, every field optional, "schema" first.
 */
struct rcore_error *rcore_report_json(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options, FILE *out);

/*
 * For CI systems. Markdown: a section for each thread, at most 1 MiB (what
 * GitHub takes as a step's summary). The others say one thing, that a process
 * crashed at a place of the application's code, and nothing where no signal
 * killed it: GitHub's workflow commands (ten annotations at most), SARIF 2.1.0,
 * JUnit XML (a failed case, or a passed one), GitLab's Code Quality.
 */
struct rcore_error *rcore_report_markdown(const struct rcore_snapshot *snapshot,
					  const struct rcore_report_options *options,
					  FILE *out);
struct rcore_error *rcore_report_github(const struct rcore_snapshot *snapshot,
					const struct rcore_report_options *options, FILE *out);
struct rcore_error *rcore_report_sarif(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out);
struct rcore_error *rcore_report_junit(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out);
struct rcore_error *rcore_report_gitlab(const struct rcore_snapshot *snapshot,
					const struct rcore_report_options *options, FILE *out);

/*
 * The signature in clear text, and why each frame counts in it or not: `rcore
 * explain`.
 */
struct rcore_error *rcore_report_explain(const struct rcore_snapshot *snapshot,
					 const struct rcore_report_options *options, FILE *out);
struct rcore_error *rcore_report_explain_json(const struct rcore_snapshot *snapshot,
					      const struct rcore_report_options *options,
					      FILE *out);

/*
 * Each fiber's context, one a line; fibers without one with options->all alone.
 */
struct rcore_error *rcore_report_state(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out);
struct rcore_error *rcore_report_state_json(const struct rcore_snapshot *snapshot,
					    const struct rcore_report_options *options,
					    FILE *out);

/*
 * What each thread and fiber waits for, deadlocks first, then the locks: `rcore
 * waits`.
 */
struct rcore_error *rcore_report_waits(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out);
struct rcore_error *rcore_report_waits_json(const struct rcore_snapshot *snapshot,
					    const struct rcore_report_options *options,
					    FILE *out);

/*
 * What was found and how: `rcore doctor`. `error` is why the analysis gives up,
 * or NULL.
 */
struct rcore_error *rcore_report_doctor(const struct rcore_snapshot *snapshot,
					const struct rcore_error *error,
					const struct rcore_report_options *options, FILE *out);

/*
 * Each field of the layout, proved or not (rcore_check_layout()): `rcore layout
 * check`.
 */
struct rcore_error *rcore_report_check(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out);

/*
 * Values: each on a line as its inspect has it, with its problems on lines
 * below; or as JSON.
 */
struct rcore_error *rcore_report_print_text(const struct rcore_print *print,
					    const struct rcore_report_options *options,
					    FILE *out);
struct rcore_error *rcore_report_print_json(const struct rcore_print *print, FILE *out);

#endif
