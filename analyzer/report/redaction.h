/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_REDACTION_H
#define RCORE_REPORT_REDACTION_H

#include "model/redaction.h"
#include "report/json/json_writer.h"
#include "report/text/style.h"

/*
 * Writes a line about what was removed from a report; nothing if nothing was to
 * be removed.
 */
void rcore_text_redaction(const struct rcore_pen *pen, const struct rcore_redaction *redaction);

/* Writes the same as "redaction". */
void rcore_json_redaction(struct rcore_json *json, const struct rcore_redaction *redaction);

#endif
