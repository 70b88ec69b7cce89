/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HEAP_VERIFY_H
#define RCORE_REPORT_HEAP_VERIFY_H

#include "base/error.h"
#include "model/heap/heap_verify.h"
#include "report/report.h"

/* Write `rcore heap verify`. Errors: OS, NO_MEMORY. */
struct rcore_error *rcore_report_heap_verify_text(const struct rcore_heap_verified *verified,
						  const struct rcore_report_options *options,
						  FILE *out);
struct rcore_error *rcore_report_heap_verify_json(const struct rcore_heap_verified *verified,
						  FILE *out);

#endif
