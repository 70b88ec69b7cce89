/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_TRIAGE_H
#define RCORE_REPORT_TEXT_TRIAGE_H

#include "model/snapshot.h"
#include "report/text/style.h"

/*
 * Writes "Blame: Foo#bar app.rb:7 (why)" and "Signature: r1:...", a line each;
 * nothing if they are unknown.
 */
void rcore_text_blame(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot);
void rcore_text_signature(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot);

/* Returns the word with which a line of the summary begins: "Blocked". */
const char *rcore_summary_title(const struct rcore_summary_line *line);

#endif
