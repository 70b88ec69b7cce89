/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_FORMATS_H
#define RCORE_REPORT_FORMATS_H

#include "report/report.h"

/* Every way to write a snapshot, by the name that --format takes. A new one: its writer, its line in
 * formats.c. */
struct rcore_format {
	const char *name;
	const char *ending; /* of files that can be nothing else; NULL: none */
	struct rcore_error *(*write)(const struct rcore_snapshot *snapshot,
				     const struct rcore_report_options *options, FILE *out);
};

/* Ends with {0}; the first is the default. */
extern const struct rcore_format rcore_formats[];

/*
 * "report.md" gives the format of its ending and the same path, "gitlab:report.json" the one that is
 * named and the path behind. USAGE: neither tells.
 */
struct rcore_error *rcore_format_of_output(const char *output, const struct rcore_format **ret,
					   const char **ret_path);

#endif
