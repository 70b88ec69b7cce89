/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HEAP_H
#define RCORE_REPORT_HEAP_H

#include <stdio.h>

#include "base/error.h"
#include "model/census.h"
#include "model/heap_line.h"
#include "model/report_options.h"

/*
 * Write the census of a heap: `rcore heap`. `limit` is the number of classes to
 * write; 0: all. Error: OS.
 */
struct rcore_error *rcore_report_census_text(const struct rcore_heap_census *census,
					     size_t limit,
					     const struct rcore_report_options *options,
					     FILE *out);
struct rcore_error *rcore_report_census_json(const struct rcore_heap_census *census,
					     size_t limit, FILE *out);

/*
 * Writes one object as a line of JSON, as ObjectSpace.dump_all does. References
 * of an object that only an extension knows have the key "conservative" in
 * addition, and those that are incomplete "partial". Error: OS.
 */
struct rcore_error *rcore_report_heap_line(const struct rcore_heap_line *line, FILE *out);

#endif
