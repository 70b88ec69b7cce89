/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_HEAP_ROUTE_H
#define RCORE_REPORT_TEXT_HEAP_ROUTE_H

/*
 * report/text/heap/ writes what `rcore heap` finds, one file for each
 * subcommand.
 */

#include "model/heap/heap_object.h"
#include "report/text/style.h"

/* Print parts that several reports of heaps have. */

/* "Class Order 0x7f..." */
void rcore_text_object(const struct rcore_pen *pen, const struct rcore_heap_object *object);

/* A path from a root, each line after `indent`. */
void rcore_text_route(const struct rcore_pen *pen, const struct rcore_heap_route *route,
		      const char *indent);

/*
 * If it is the row of Thread, says that its bytes are mostly VM stacks:
 * memsize_of() counts these as a whole, but the kernel only provides pages that
 * were used.
 */
void rcore_text_vm_stacks(const char *klass, uint64_t count, uint64_t bytes, FILE *out);

static inline double rcore_text_mebibytes(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

/* What could not be read. */
void rcore_text_gaps(const struct rcore_pen *pen, const struct rcore_heap_gaps *gaps);

#endif
