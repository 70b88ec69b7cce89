/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_WORKS_H
#define RCORE_REPORT_TEXT_WORKS_H

#include "model/snapshot.h"
#include "report/text/style.h"

/*
 * Writes what a fiber works on in a line for each, with the recognizer and the
 * frame it was found in: `request method="GET" path="/"  (Rack, App#call)`.
 */
void rcore_text_works(const struct rcore_pen *pen, const char *indent,
		      const struct rcore_fiber *fiber);

/* Writes the same in one line, without recognizers. */
void rcore_text_works_inline(const struct rcore_pen *pen, const char *before,
			     const struct rcore_fiber *fiber);

#endif
