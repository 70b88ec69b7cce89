/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_EXCEPTIONS_H
#define RCORE_REPORT_TEXT_EXCEPTIONS_H

#include "model/snapshot.h"
#include "report/text/style.h"

/*
 * What a fiber is handling, each exception with its causes; of backtraces the
 * innermost lines unless `all`. Nothing where it handles none.
 */
void rcore_text_exceptions(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
			   bool all);

#endif
