/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "report/heap_malloc.h"
#include "report/text/style.h"

static void print_row(FILE *out, const char *what, const struct rcore_chunk_sum *sum)
{
	fprintf(out, "%14" PRIu64 " %10" PRIu64 "  %s\n", sum->bytes, sum->count, what);
}

struct rcore_error *rcore_report_malloc_text(const struct rcore_malloc *heap,
					     const struct rcore_report_options *options,
					     FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	fprintf(out, "Allocator: %s\n", heap->allocator ? heap->allocator : "unknown");
	if (heap->is_known) {
		fputs("\n         bytes     chunks\n", out);
		print_row(out, "in use", &heap->sums[RCORE_CHUNK_USED]);
		print_row(out, "  of them with mappings of their own", &heap->mmapped);
		print_row(out, "free, in bins", &heap->sums[RCORE_CHUNK_FREE]);
		print_row(out, "free, in fastbins", &heap->sums[RCORE_CHUNK_FAST]);
		print_row(out, "free, in caches of threads", &heap->sums[RCORE_CHUNK_CACHED]);
		print_row(out, "free, at the ends of arenas", &heap->sums[RCORE_CHUNK_TOP]);
		fprintf(out, "\n%zu arena%s, %" PRIu64 " bytes\n", heap->arena_count,
			heap->arena_count == 1 ? "" : "s", heap->system_bytes);
	}
	if (heap->problem[0])
		rcore_styled(&pen, RCORE_STYLE_PROBLEM, "! %s\n", heap->problem);
	return rcore_pen_error(out);
}
