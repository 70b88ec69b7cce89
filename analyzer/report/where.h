/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_WHERE_H
#define RCORE_REPORT_WHERE_H

#include "base/error.h"
#include "model/snapshot.h"
#include "report/report.h"

/*
 * Returns whether the context of a fiber, or what it works on, has the key of
 * --where KEY=VALUE with this value, as it is printed; the quotes of a String
 * and the colon of a Symbol are optional. KEY alone matches any value. If there
 * are several conditions, all must match.
 */
bool rcore_where_matches(const struct rcore_report_options *options,
			 const struct rcore_fiber *fiber);

/*
 * Returns USAGE if no fiber matches. The message has the condition, and says
 * what there is.
 */
struct rcore_error *rcore_where_check(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options);

#endif
