/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/heap.h"
#include "report/redaction.h"
#include "report/text/style.h"

static double mebibytes(uint64_t bytes)
{
	return (double)bytes / (1024 * 1024);
}

static void print_pools(const struct rcore_heap_census *census, FILE *out)
{
	fputs("\nslot size      pages        slots         free  free %  sparse pages\n", out);
	for (size_t i = 0; i < census->pool_count; i++) {
		const struct rcore_census_pool *pool = &census->pools[i];
		fprintf(out,
			"%9" PRIu32 " %10" PRIu64 " %12" PRIu64 " %12" PRIu64
			" %6.1f%% %13" PRIu64 "\n",
			pool->slot_size, pool->pages, pool->slots, pool->free,
			pool->slots ? 100.0 * (double)pool->free / (double)pool->slots : 0,
			pool->sparse_pages);
	}
}

static void print_problems(const struct rcore_pen *pen, const struct rcore_heap_census *census)
{
	if (census->unknown_sizes)
		fprintf(pen->out,
			"%" PRIu64 " objects of extensions: their C memory is not counted\n",
			census->unknown_sizes);
	if (census->unswept)
		fprintf(pen->out, "%" PRIu64 " more slots have garbage that is not freed yet\n",
			census->unswept);
	if (census->absent_pages)
		rcore_styled(pen, RCORE_STYLE_PROBLEM,
			     "! %" PRIu64 " pages of the heap are not in the core\n",
			     census->absent_pages);
}

struct rcore_error *rcore_report_census_text(const struct rcore_heap_census *census,
					     size_t limit,
					     const struct rcore_report_options *options,
					     FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	size_t shown = limit && limit < census->class_count ? limit : census->class_count;
	fprintf(out, "%" PRIu64 " objects, %.1f MiB\n\n", census->objects,
		mebibytes(census->bytes));
	fputs("     count         bytes  class\n", out);
	for (size_t i = 0; i < shown; i++) {
		const struct rcore_census_class *klass = &census->classes[i];
		fprintf(out, "%10" PRIu64 " %13" PRIu64 "  ", klass->count, klass->bytes);
		rcore_escape_write(out, klass->name);
		putc('\n', out);
	}
	if (shown < census->class_count)
		fprintf(out, "       ... (%zu more classes; --limit 0 prints all)\n",
			census->class_count - shown);
	print_pools(census, out);
	print_problems(&pen, census);
	rcore_text_redaction(&pen, &census->redaction);
	return rcore_pen_error(out);
}
