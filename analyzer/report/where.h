/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_WHERE_H
#define RCORE_REPORT_WHERE_H

#include "base/error.h"
#include "model/snapshot.h"
#include "report/report.h"

/*
 * --where key=value: a fiber whose context has the key, with that value as it
 * is shown; the quotes of a String and the colon of a Symbol may be left out.
 * `key` alone: with any value. Of several conditions all must hold.
 */
bool rcore_where_matches(const struct rcore_report_options *options,
			 const struct rcore_context *context);

/* USAGE where no fiber matches: what the condition is, and what there is. */
struct rcore_error *rcore_where_check(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options);

#endif
