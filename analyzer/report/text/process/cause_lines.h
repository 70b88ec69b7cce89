/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_CAUSE_LINES_H
#define RCORE_REPORT_CAUSE_LINES_H

#include <stdio.h>

#include "model/snapshot.h"

/*
 * Writes what is known about a process's end besides its signal: abort message,
 * [BUG] text, exception, collection, memory, pointers to slots that no longer
 * hold objects. Calls `write` with each as one line, escaped.
 */
void rcore_cause_lines(const struct rcore_cause *cause,
		       void (*write)(void *context, const char *line), void *context);

#endif
