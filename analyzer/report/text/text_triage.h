/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_TRIAGE_H
#define RCORE_REPORT_TEXT_TRIAGE_H

#include "model/snapshot.h"
#include "report/text/style.h"

/*
 * "Blame: Foo#bar  app.rb:7  (why)" and "Signature: r1:...", each a line;
 * nothing where not known.
 */
void rcore_text_blame(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot);
void rcore_text_signature(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot);

#endif
