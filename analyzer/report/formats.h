/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_FORMATS_H
#define RCORE_REPORT_FORMATS_H

#include "report/report.h"

/*
 * Every output format: its name for --format, the suffix of file names that
 * means this format ("" for none), its writer, whether its output is a document
 * that describes one process (several of them, one after the other, are not
 * valid), and what help prints after the name. --format, -o, their help and
 * their messages come from this table, in the shell and in debuggers. To add a
 * format, add the file of its writer, and its line here.
 */
#define RCORE_FORMATS(FORMAT)                                                       \
	FORMAT("text", ".txt", rcore_report_text, false, " (the default)")          \
	FORMAT("json", ".json", rcore_report_json, false, "")                       \
	FORMAT("html", ".html", rcore_report_html, true, "")                        \
	FORMAT("markdown", ".md", rcore_report_markdown, false, "")                 \
	FORMAT("github", "", rcore_report_github, false, " (workflow annotations)") \
	FORMAT("gitlab", "", rcore_report_gitlab, true, " (Code Quality)")          \
	FORMAT("sarif", ".sarif", rcore_report_sarif, true, "")                     \
	FORMAT("junit", ".xml", rcore_report_junit, true, "")

/*
 * Their writers. NULL for the options means the default. Error: OS if the
 * report could not be written completely (a full disk, a closed pipe).
 *
 * HTML is one file that loads nothing. It has the JSON of the report and a
 * script that shows it; a browser without scripts shows the text report.
 *
 * Markdown has a section for each thread and at most 1 MiB, GitHub's limit for
 * the summary of a step. The other formats for CI systems report that a process
 * crashed at a place of the application's code, and nothing if no signal killed
 * it: GitHub's workflow commands (at most ten annotations), SARIF 2.1.0, JUnit
 * XML (a failed or a passed case), GitLab's Code Quality.
 */
#define RCORE_FORMAT_WRITER(name, ending, writer, is_document, note)      \
	struct rcore_error *writer(const struct rcore_snapshot *snapshot, \
				   const struct rcore_report_options *options, FILE *out);
RCORE_FORMATS(RCORE_FORMAT_WRITER)

struct rcore_format {
	const char *name;
	const char *ending; /* "" for none */
	struct rcore_error *(*write)(const struct rcore_snapshot *snapshot,
				     const struct rcore_report_options *options, FILE *out);
};

/* Ends with {0}; the first is the default. */
extern const struct rcore_format rcore_formats[];

/* Their names in the same order, for an option's choices; ends with NULL. */
extern const char *const rcore_format_names[];

/* In the same order: whether output of this format describes one process. */
extern const bool rcore_format_is_document[];

/* The same for messages, with a space before each. */
extern const char rcore_format_list[];

/* One line of help each: the names, and the suffixes of file names. */
extern const char rcore_format_help[], rcore_format_output_help[];

/* Returns the format with that name, which must be in the table. */
const struct rcore_format *rcore_format_named(const char *name);

/*
 * Finds the format and the path of an --output: "report.md" means the format of
 * its suffix and that path, "gitlab:report.json" the format before the colon
 * and the path after it. Error: USAGE if neither names a format.
 */
struct rcore_error *rcore_format_of_output(const char *output, const struct rcore_format **ret,
					   const char **ret_path);

#endif
