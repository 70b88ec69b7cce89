/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_CONTEXT_H
#define RCORE_REPORT_TEXT_CONTEXT_H

#include "model/context.h"
#include "report/text/style.h"

/* Writes KEY=TEXT; if TEXT is NULL, that it could not be read. */
void rcore_text_pair(const struct rcore_pen *pen, const char *key, const char *text);

/*
 * Writes key=value pairs on one line, after `before`; nothing if there are
 * none.
 */
void rcore_text_context(const struct rcore_pen *pen, const char *before,
			const struct rcore_context *context);

/*
 * Writes what could not be read, and whether the thread-local pointer differs:
 * a line each.
 */
void rcore_text_context_remarks(const struct rcore_pen *pen, const char *indent,
				const struct rcore_context *context);

#endif
