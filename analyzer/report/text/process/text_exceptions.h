/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_EXCEPTIONS_H
#define RCORE_REPORT_TEXT_EXCEPTIONS_H

#include "model/snapshot.h"
#include "report/text/style.h"

/*
 * Writes what a fiber is handling, each exception with its causes. Writes only
 * the innermost lines of backtraces unless `all`; nothing if it handles none.
 */
void rcore_text_exceptions(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
			   bool all);

#endif
