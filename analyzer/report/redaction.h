/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_REDACTION_H
#define RCORE_REPORT_REDACTION_H

#include "model/redaction.h"
#include "report/json/json_writer.h"
#include "report/text/style.h"

/*
 * What was taken out of a report, on a line of its own; nothing where nothing
 * was to be.
 */
void rcore_text_redaction(const struct rcore_pen *pen, const struct rcore_redaction *redaction);

/* "redaction": the same. */
void rcore_json_redaction(struct rcore_json *json, const struct rcore_redaction *redaction);

#endif
