/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HEAP_DIFF_H
#define RCORE_REPORT_HEAP_DIFF_H

#include <stdio.h>

#include "base/error.h"
#include "model/heap/heap_diff.h"
#include "model/report_options.h"

/* Write what grew: `rcore heap diff`. Error: OS. */
struct rcore_error *rcore_report_heap_diff_text(const struct rcore_heap_diff *diff,
						const struct rcore_report_options *options,
						FILE *out);
struct rcore_error *rcore_report_heap_diff_json(const struct rcore_heap_diff *diff, FILE *out);

#endif
