/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_FIREFOX_H
#define RCORE_REPORT_FIREFOX_H

/* Private to firefox.c and firefox_tables.c, which writes a track's tables. */

#include <stdint.h>

#include "report/json/json_writer.h"
#include "report/profile/numbering.h"
#include "report/profile/profile_report.h"

struct rcore_firefox {
	const struct rcore_profile_report *report;
	const struct rcore_profile *profile;
	struct rcore_json json;
	uint32_t *order; /* indices of one side's timeline, by track and time */
	struct rcore_numbering nodes, functions, strings;
};

/* Writes an array without elements. */
void rcore_firefox_put_empty(struct rcore_json *json, const char *key);
/* Writes a table without rows. */
void rcore_firefox_put_no_rows(struct rcore_json *json, const char *key,
			       const char *const *columns);

/*
 * Numbers a stack of the track and everything that its frames need. Callers get
 * lower numbers than callees. `stack` has room for each node of the profile.
 */
void rcore_firefox_use_stack(struct rcore_firefox *writer, uint32_t node, uint32_t *stack);

/* Writes the tables of what was numbered, and those that rcore does not use. */
void rcore_firefox_put_tables(struct rcore_firefox *writer);

#endif
