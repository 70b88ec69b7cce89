/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HEAP_STRINGS_H
#define RCORE_REPORT_HEAP_STRINGS_H

#include "base/error.h"
#include "model/heap/heap_strings.h"
#include "report/report.h"

/* Write `rcore heap strings`. Errors: OS, NO_MEMORY. */
struct rcore_error *rcore_report_heap_strings_text(const struct rcore_heap_strings *strings,
						   const struct rcore_report_options *options,
						   FILE *out);
struct rcore_error *rcore_report_heap_strings_json(const struct rcore_heap_strings *strings,
						   FILE *out);

#endif
