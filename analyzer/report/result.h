/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_RESULT_H
#define RCORE_REPORT_RESULT_H

#include <stdio.h>

#include "model/snapshot.h"
#include "report/report.h"
#include "triage/cluster.h"

/*
 * Results as JSON lines: what `rcore triage` writes and takes as a baseline
 * (docs/rcore-triage-1.schema.json).
 */

/* `snapshot` and `error` may be NULL; strings are theirs. */
struct rcore_result rcore_result_of(const char *core, int status,
				    const struct rcore_snapshot *snapshot, const char *error);

/* One line. */
struct rcore_error *rcore_result_write(const struct rcore_result *result, FILE *out);

/* The result in a line; strings are the arena's. FORMAT: not such a line. */
struct rcore_error *rcore_result_parse(const char *line, struct rcore_arena *arena,
				       struct rcore_result *ret);

/*
 * The groups for people: how many cores, cause, blame, signature, new or known;
 * then what failed and what is gone. `cores` of each group are listed up to a
 * few unless options->all.
 */
struct rcore_error *rcore_report_clusters(const struct rcore_clusters *clusters,
					  const struct rcore_report_options *options,
					  FILE *out);

#endif
