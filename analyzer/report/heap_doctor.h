/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HEAP_DOCTOR_H
#define RCORE_REPORT_HEAP_DOCTOR_H

#include "base/error.h"
#include "model/heap/heap_doctor.h"
#include "report/report.h"

/* Write `rcore heap doctor`. Errors: OS, NO_MEMORY. */
struct rcore_error *rcore_report_heap_doctor_text(const struct rcore_heap_doctor *doctor,
						  const struct rcore_report_options *options,
						  FILE *out);
struct rcore_error *rcore_report_heap_doctor_json(const struct rcore_heap_doctor *doctor,
						  FILE *out);

#endif
