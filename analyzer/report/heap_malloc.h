/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HEAP_MALLOC_H
#define RCORE_REPORT_HEAP_MALLOC_H

#include <stdio.h>

#include "base/error.h"
#include "malloc/malloc.h"
#include "model/heap/c_memory.h"
#include "model/report_options.h"

/*
 * Write what the allocator has in use, and what owns it: `rcore heap malloc`.
 * If `owners` is NULL, `problem` says why. Error: OS.
 */
struct rcore_malloc_report {
	const struct rcore_malloc *heap;
	const struct rcore_c_memory *owners;
	const char *problem;
};

struct rcore_error *rcore_report_malloc_text(const struct rcore_malloc_report *report,
					     const struct rcore_report_options *options,
					     FILE *out);
struct rcore_error *rcore_report_malloc_json(const struct rcore_malloc_report *report,
					     FILE *out);

#endif
