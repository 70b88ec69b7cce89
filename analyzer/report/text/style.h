/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_STYLE_H
#define RCORE_REPORT_STYLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

enum rcore_style {
	RCORE_STYLE_PLAIN,
	RCORE_STYLE_CAUSE,
	RCORE_STYLE_ID,
	RCORE_STYLE_QUIET,
	RCORE_STYLE_PROBLEM,
	RCORE_STYLE_GOOD,
};

/* Where a report goes, and whether in color. */
struct rcore_pen {
	FILE *out;
	bool color;
};

/*
 * Sets the style until the next call; PLAIN ends it. Writes nothing without
 * color.
 */
void rcore_style(const struct rcore_pen *pen, enum rcore_style style);

/*
 * Does the same as printf in a style. The text is the report's own, or already
 * escaped.
 */
void rcore_styled(const struct rcore_pen *pen, enum rcore_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes "  ! problem", escaped, unless it is NULL. */
void rcore_style_problem(const struct rcore_pen *pen, const char *problem);

/* Writes text that may contain bytes of the target, escaped. */
void rcore_styled_text(const struct rcore_pen *pen, enum rcore_style style, const char *text);

/* Returns an OS error if something could not be written, otherwise NULL. */
struct rcore_error *rcore_pen_error(FILE *out);

#endif
