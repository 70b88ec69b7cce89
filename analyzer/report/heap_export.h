/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HEAP_EXPORT_H
#define RCORE_REPORT_HEAP_EXPORT_H

#include <stdio.h>

#include "base/error.h"
#include "heap/trails.h"
#include "heap/walk.h"
#include "model/heap/heap_export.h"

/* Write the reachable part of a heap for tools of others. */

/*
 * Writes a heap snapshot of V8, which Chrome DevTools opens. `walk` has reached
 * what is written. The id of an object is rcore_heap_snapshot_id(). Errors: OS,
 * NO_MEMORY.
 */
struct rcore_error *rcore_report_heap_snapshot(const struct rcore_heap_export *export,
					       const struct rcore_heap_walk *walk, FILE *out);

/* V8's own ids of objects are odd. */
static inline uint64_t rcore_heap_snapshot_id(uint32_t node)
{
	return (uint64_t)node * 2 + 1;
}

/*
 * Writes a profile of pprof: a sample is all objects that are reachable by the
 * same path, and its stack is this path. The classes of `trails` are titles of
 * the export, and its names those of the heap. Errors: OS, NO_MEMORY.
 */
typedef struct rcore_error *rcore_heap_pprof(const struct rcore_heap_export *export,
					     const struct rcore_trails *trails, FILE *out);
rcore_heap_pprof rcore_report_heap_pprof;

#endif
