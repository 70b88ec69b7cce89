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

/* Until the next call; PLAIN ends it. Nothing without color. */
void rcore_style(const struct rcore_pen *pen, enum rcore_style style);

/* printf in a style; the text is the report's own or already escaped. */
void rcore_styled(const struct rcore_pen *pen, enum rcore_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Text that may hold bytes of the target, escaped. */
void rcore_styled_text(const struct rcore_pen *pen, enum rcore_style style, const char *text);

/* An OS error when something could not be written, else NULL. */
struct rcore_error *rcore_pen_error(FILE *out);

#endif
