/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_CONVERTED_H
#define RCORE_REPORT_CONVERTED_H

#include <stdio.h>

#include "base/error.h"
#include "model/converted.h"
#include "model/snapshot.h"
#include "report/report.h"

/*
 * Writes which LWP of the core at `path` is which fiber, and where that fiber
 * is.
 */
struct rcore_error *rcore_report_converted(const struct rcore_snapshot *snapshot,
					   const char *path, const struct rcore_converted *rows,
					   size_t count,
					   const struct rcore_report_options *options,
					   FILE *out);

#endif
