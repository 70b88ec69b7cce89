/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_RESULT_H
#define RCORE_REPORT_RESULT_H

#include <stdio.h>

#include "model/heap/census.h"
#include "model/snapshot.h"
#include "report/report.h"
#include "triage/cluster.h"

/*
 * Results as JSON lines, which `rcore triage` writes and reads as a baseline
 * (docs/rcore-triage-2.schema.json). It also reads those of version 1.
 */

/*
 * `snapshot` and `error` may be NULL. The strings of *ret belong to them, or
 * are in `arena`. Error: NO_MEMORY.
 */
struct rcore_error *rcore_result_make(const char *core, int status,
				      const struct rcore_snapshot *snapshot, const char *error,
				      struct rcore_arena *arena, struct rcore_result *ret);

/*
 * Adds the totals of a heap, and its `limit` largest classes. The names belong
 * to the census. Error: NO_MEMORY.
 */
struct rcore_error *rcore_result_add_heap(const struct rcore_heap_census *census, size_t limit,
					  struct rcore_arena *arena, struct rcore_result *ret);

/*
 * Sets the time to when the core was last written, unless it has a time: of a
 * core that could not be analyzed, no more is known.
 */
void rcore_result_date(struct rcore_arena *arena, struct rcore_result *result);

/* Writes one line. */
struct rcore_error *rcore_result_write(const struct rcore_result *result, FILE *out);

/*
 * Parses a line; strings are in the arena. Error: FORMAT if it is not such a
 * line.
 */
struct rcore_error *rcore_result_parse(const char *line, struct rcore_arena *arena,
				       struct rcore_result *ret);

/*
 * Writes the groups for people: the number of cores, cause, blame, signature,
 * and whether the group is new or known; then what failed and what is gone.
 * Lists a few `cores` of each group, or all with options->all.
 */
struct rcore_error *rcore_report_clusters(const struct rcore_clusters *clusters,
					  const struct rcore_report_options *options,
					  FILE *out);

#endif
