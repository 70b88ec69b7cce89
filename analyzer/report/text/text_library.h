/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_LIBRARY_H
#define RCORE_REPORT_TEXT_LIBRARY_H

#include "report/text/process/rows.h"
#include "report/text/style.h"

/* Writes a RCORE_ROW_LIBRARY: how many frames it has, and of which gems. */
void rcore_text_library(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
			const struct rcore_row *row);

#endif
