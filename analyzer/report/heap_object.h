/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HEAP_OBJECT_H
#define RCORE_REPORT_HEAP_OBJECT_H

#include <stdio.h>

#include "base/error.h"
#include "model/heap/heap_object.h"
#include "model/report_options.h"

/* Write what `rcore heap refs` and its siblings found. Error: OS. */
struct rcore_error *rcore_report_refs_text(const struct rcore_heap_refs *refs,
					   const struct rcore_report_options *options,
					   FILE *out);
struct rcore_error *rcore_report_refs_json(const struct rcore_heap_refs *refs, FILE *out);

struct rcore_error *rcore_report_retained_text(const struct rcore_heap_retained *retained,
					       const struct rcore_report_options *options,
					       FILE *out);
struct rcore_error *rcore_report_retained_json(const struct rcore_heap_retained *retained,
					       FILE *out);

#endif
