/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_FORMATS_H
#define RCORE_REPORT_FORMATS_H

#include "report/report.h"

/*
 * Every format in which a snapshot can be written: its name for --format, the
 * ending of file names that can mean nothing else ("" for none), its writer,
 * and what help says after the name. --format, -o, their help and their errors
 * are made from this table in the shell and in debuggers alike. To add a
 * format, add its writer's file and its line here.
 */
#define RCORE_FORMATS(FORMAT)                                                \
	FORMAT("text", ".txt", rcore_report_text, " (the default)")          \
	FORMAT("json", ".json", rcore_report_json, "")                       \
	FORMAT("markdown", ".md", rcore_report_markdown, "")                 \
	FORMAT("github", "", rcore_report_github, " (workflow annotations)") \
	FORMAT("gitlab", "", rcore_report_gitlab, " (Code Quality)")         \
	FORMAT("sarif", ".sarif", rcore_report_sarif, "")                    \
	FORMAT("junit", ".xml", rcore_report_junit, "")

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

/* The same for messages, each after a space. */
extern const char rcore_format_list[];

/* One line of help each: the names, and the endings of file names. */
extern const char rcore_format_help[], rcore_format_output_help[];

/* Returns the format of that name, which must be in the table. */
const struct rcore_format *rcore_format_named(const char *name);

/*
 * Finds the format and the path of an --output: "report.md" means the format of
 * its ending and that path, "gitlab:report.json" the format before the colon
 * and the path after it. Error: USAGE if neither names a format.
 */
struct rcore_error *rcore_format_of_output(const char *output, const struct rcore_format **ret,
					   const char **ret_path);

#endif
