/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/text.h"
#include "report/heap.h"
#include "report/redaction.h"
#include "report/text/style.h"
#include "report/text/heap/text_heap_route.h"

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

static void print_vm_stacks(const struct rcore_heap_census *census, FILE *out)
{
	for (size_t i = 0; i < census->class_count; i++) {
		const struct rcore_census_class *klass = &census->classes[i];
		rcore_text_vm_stacks(klass->name, klass->count, klass->bytes, out);
	}
}

static void print_problems(const struct rcore_pen *pen, const struct rcore_heap_census *census)
{
	if (census->unknown_sizes)
		fprintf(pen->out,
			"the C memory of %" PRIu64
			" object%s whose size only C code knows, mostly of extensions, is not "
			"counted\n",
			census->unknown_sizes, rcore_plural(census->unknown_sizes));
	if (census->unswept)
		fprintf(pen->out, "%" PRIu64 " more slot%s %s garbage that is not freed yet\n",
			census->unswept, rcore_plural(census->unswept),
			census->unswept == 1 ? "has" : "have");
	if (census->absent_pages)
		rcore_styled(pen, RCORE_STYLE_PROBLEM,
			     "! %" PRIu64 " page%s of the heap %s not in the core\n",
			     census->absent_pages, rcore_plural(census->absent_pages),
			     rcore_are(census->absent_pages));
}

static void print_c_memory(const struct rcore_malloc *heap, FILE *out)
{
	const struct rcore_chunk_sum *used = &heap->sums[RCORE_CHUNK_USED];
	if (heap->is_known)
		fprintf(out,
			"\nC memory: %.1f MiB in use in %" PRIu64 " chunks, %.1f MiB free "
			"(`rcore heap malloc` prints the owners)\n",
			rcore_text_mebibytes(used->bytes), used->count,
			rcore_text_mebibytes(rcore_malloc_free_bytes(heap)));
}

/*
 * ", VM Object > constant App > constant CACHE": the root, and by which
 * references it leads to the object. The last ones say the most.
 */
static void print_path(const struct rcore_heap_route *route, FILE *out)
{
	enum { SHOWN = 4 };
	if (!route->root)
		return;
	fputs(", ", out);
	rcore_escape_write(out, route->root);
	size_t first = route->count > SHOWN ? route->count - SHOWN : 0;
	if (first || (route->omitted && route->omitted_at >= first))
		fputs(" > ...", out);
	for (size_t i = first; i < route->count; i++) {
		if (!route->links[i].how || (route->omitted && i < route->omitted_at))
			continue;
		fputs(" > ", out);
		rcore_escape_write(out, route->links[i].how);
	}
}

static void print_retained(const struct rcore_pen *pen,
			   const struct rcore_heap_retained *retained)
{
	fputs("\n     retained  object and path (`rcore heap retained` prints more)\n",
	      pen->out);
	for (size_t i = 0; i < retained->object_count; i++) {
		const struct rcore_retained_object *item = &retained->objects[i];
		fprintf(pen->out, "%13" PRIu64 "  ", item->object.retained);
		rcore_text_object(pen, &item->object);
		print_path(&item->route, pen->out);
		putc('\n', pen->out);
	}
}

struct rcore_error *rcore_report_census_text(const struct rcore_census_report *report,
					     const struct rcore_report_options *options,
					     FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	const struct rcore_heap_census *census = report->census;
	size_t limit = report->limit;
	size_t shown = limit && limit < census->class_count ? limit : census->class_count;
	fprintf(out, "%" PRIu64 " objects, %.1f MiB\n\n", census->objects,
		rcore_text_mebibytes(census->bytes));
	fputs("     count         bytes  class\n", out);
	for (size_t i = 0; i < shown; i++) {
		const struct rcore_census_class *klass = &census->classes[i];
		fprintf(out, "%10" PRIu64 " %13" PRIu64 "  ", klass->count, klass->bytes);
		rcore_escape_write(out, klass->name);
		putc('\n', out);
	}
	if (shown < census->class_count)
		fprintf(out, "       ... (%zu more class%s; --limit 0 prints all)\n",
			census->class_count - shown,
			census->class_count - shown == 1 ? "" : "es");
	print_pools(census, out);
	print_vm_stacks(census, out);
	print_problems(&pen, census);
	if (report->c_memory)
		print_c_memory(report->c_memory, out);
	if (report->retained)
		print_retained(&pen, report->retained);
	if (!report->retained && !report->problem)
		fputs("\nThe heap is large: --full also prints what retains most, and the C "
		      "memory\n",
		      out);
	if (report->problem)
		rcore_styled(&pen, RCORE_STYLE_PROBLEM,
			     "! cannot find out what objects retain: %s\n", report->problem);
	rcore_text_redaction(&pen, report->retained ? &report->retained->redaction
						    : &census->redaction);
	return rcore_pen_error(out);
}
