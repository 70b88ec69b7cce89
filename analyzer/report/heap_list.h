/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HEAP_LIST_H
#define RCORE_REPORT_HEAP_LIST_H

#include "base/error.h"
#include "model/heap/heap_list.h"
#include "report/report.h"

/* Write `rcore heap --class`. Errors: OS, NO_MEMORY. */
struct rcore_error *rcore_report_heap_list_text(const struct rcore_heap_list *list,
						const struct rcore_report_options *options,
						FILE *out);
struct rcore_error *rcore_report_heap_list_json(const struct rcore_heap_list *list, FILE *out);

#endif
