/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_FOLD_H
#define RCORE_REPORT_FOLD_H

#include "report/text/process/rows.h"

/*
 * Folds deep recursion. A cycle of frames that repeats many times is one item:
 * 10,000 frames of `a` calling `b` calling `a` become two frames and a count.
 */
struct rcore_fold {
	size_t first;  /* index of the item's first row */
	size_t period; /* rows in one round */
	size_t rounds; /* 1: a plain row */
};

/*
 * Finds the item at row *at and moves *at past it. Returns false after the last
 * one. Finds cycles of up to 32 rows, in time linear in their number.
 */
bool rcore_fold_next(const struct rcore_rows *rows, size_t *at, struct rcore_fold *ret);

/*
 * The same for any list of `count` lines. same() returns whether the lines `a`
 * and `b` look the same.
 */
bool rcore_fold_lines(const void *lines, size_t count,
		      bool (*same)(const void *lines, size_t a, size_t b), size_t *at,
		      struct rcore_fold *ret);

#endif
