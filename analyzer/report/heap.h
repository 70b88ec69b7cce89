/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HEAP_H
#define RCORE_REPORT_HEAP_H

#include <stdio.h>

#include "base/error.h"
#include "malloc/malloc.h"
#include "model/heap/census.h"
#include "model/heap/heap_line.h"
#include "model/heap/heap_object.h"
#include "model/report_options.h"

/* What `rcore heap` prints. All pointers are the caller's. */
struct rcore_census_report {
	const struct rcore_heap_census *census;
	size_t limit; /* classes to write; 0: all */
	/* The objects that retain most, and the C memory; NULL: not read. */
	const struct rcore_heap_retained *retained;
	const struct rcore_malloc *c_memory;
	/* Why `retained` could not be computed, or NULL. */
	const char *problem;
};

/* Write the census of a heap. Errors: OS, NO_MEMORY (JSON). */
struct rcore_error *rcore_report_census_text(const struct rcore_census_report *report,
					     const struct rcore_report_options *options,
					     FILE *out);
struct rcore_error *rcore_report_census_json(const struct rcore_census_report *report,
					     FILE *out);

/* The same as a page for browsers, of `source`. Errors: OS, NO_MEMORY. */
struct rcore_error *rcore_report_census_html(const struct rcore_census_report *report,
					     const char *source, FILE *out);

/*
 * Writes one object as a line of JSON, as ObjectSpace.dump_all does. References
 * of an object that only an extension knows have the key "conservative" in
 * addition, and those that are incomplete "partial". Error: OS.
 */
struct rcore_error *rcore_report_heap_line(const struct rcore_heap_line *line, FILE *out);

#endif
