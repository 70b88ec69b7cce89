/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_REPORT_H
#define RCORE_REPORT_REPORT_H

/*
 * report/ writes a snapshot and decides nothing: text/ for people, json/ as
 * data, html/ for browsers, ci/ for CI systems, profile/ for profiles. It
 * includes model/, and reads no target. formats.h lists every format. Start
 * here.
 */

#include <stdio.h>

#include "base/error.h"
#include "model/printed.h"
#include "model/report_options.h"
#include "model/snapshot.h"

/*
 * Writers. The command, GDB and LLDB print through the same writer, so their
 * output is the same byte for byte. Writers escape all strings of the target
 * (control characters, invalid UTF-8). They do not read
 * rcore_report_options.size: rcore_report(), which is public, does
 * (session/report.c).
 */

/*
 * Most accept NULL for the default options. Error: OS if the report could not
 * be written completely (a full disk, a closed pipe).
 */

/*
 * Writes the text report. Error: USAGE if options name a thread or fiber that
 * does not exist; the message lists those that do.
 */
struct rcore_error *rcore_report_text(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options, FILE *out);

/*
 * Writes one stack. If rcore_pick_other() finds a kernel thread without Ruby,
 * that is its stack. Otherwise it is that of options->fiber, of the fiber that
 * options->thread runs, or of the one that rcore_pick_one_fiber() finds.
 * `frame` is the number of the only Ruby frame to write, or -1. Error: USAGE as
 * above, or if there is no such frame.
 */
struct rcore_error *rcore_report_stack(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, long frame,
				       FILE *out);

/* Writes the exceptions that this fiber is handling: `rcore exception`. */
struct rcore_error *rcore_report_exception(const struct rcore_snapshot *snapshot,
					   const struct rcore_report_options *options,
					   FILE *out);

/*
 * Writes the snapshot as JSON (docs/json.md): stable names, addresses as hex
 * strings, every field optional, "schema" first.
 */
struct rcore_error *rcore_report_json(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options, FILE *out);

/*
 * Writes the lines of the signature, and why each frame counts or does not:
 * `rcore explain`.
 */
struct rcore_error *rcore_report_explain(const struct rcore_snapshot *snapshot,
					 const struct rcore_report_options *options, FILE *out);
struct rcore_error *rcore_report_explain_json(const struct rcore_snapshot *snapshot,
					      const struct rcore_report_options *options,
					      FILE *out);

/*
 * Writes the context of each fiber, one per line; with options->all, also
 * fibers without one.
 */
struct rcore_error *rcore_report_state(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out);
struct rcore_error *rcore_report_state_json(const struct rcore_snapshot *snapshot,
					    const struct rcore_report_options *options,
					    FILE *out);

/*
 * Writes deadlocks, then what each thread and fiber waits for, then the locks:
 * `rcore waits`.
 */
struct rcore_error *rcore_report_waits(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out);
struct rcore_error *rcore_report_waits_json(const struct rcore_snapshot *snapshot,
					    const struct rcore_report_options *options,
					    FILE *out);

/*
 * Writes what was found and how: `rcore doctor`. `error` says why nothing can
 * be decoded, or is NULL.
 */
struct rcore_error *rcore_report_doctor(const struct rcore_snapshot *snapshot,
					const struct rcore_error *error,
					const struct rcore_report_options *options, FILE *out);

/*
 * Writes the result of rcore_check_layout() for each field: `rcore layout
 * check`.
 */
struct rcore_error *rcore_report_check(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out);

/*
 * Writes values: each on a line, as its inspect prints it, with its problems on
 * lines below; or as JSON.
 */
struct rcore_error *rcore_report_print_text(const struct rcore_print *print,
					    const struct rcore_report_options *options,
					    FILE *out);
struct rcore_error *rcore_report_print_json(const struct rcore_print *print, FILE *out);

#endif
