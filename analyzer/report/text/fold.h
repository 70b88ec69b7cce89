/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_FOLD_H
#define RCORE_REPORT_FOLD_H

#include "report/text/rows.h"

/*
 * Deep recursion as a person wants it: a cycle of frames that comes back many
 * times in a row is one item, so 10,000 frames of `a` calling `b` calling `a`
 * are shown as two frames and a count.
 */
struct rcore_fold {
	size_t first;  /* index of the item's first row */
	size_t period; /* rows in one round */
	size_t rounds; /* 1: a plain row */
};

/*
 * The item at row *at; moves *at behind it. False past the last. Looks at
 * cycles of up to 32 rows; in time linear in their number.
 */
bool rcore_fold_next(const struct rcore_rows *rows, size_t *at, struct rcore_fold *ret);

#endif
