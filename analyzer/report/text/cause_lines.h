/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_CAUSE_LINES_H
#define RCORE_REPORT_CAUSE_LINES_H

#include <stdio.h>

#include "model/snapshot.h"

/*
 * What more is known of a process's end than its signal: abort message, [BUG]
 * text, exception, collection, memory, objects that are none any more. Calls
 * `write` with each as one line, escaped.
 */
void rcore_cause_lines(const struct rcore_cause *cause,
		       void (*write)(void *context, const char *line), void *context);

#endif
