/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/text.h"
#include "report/heap_malloc.h"
#include "report/redaction.h"
#include "report/text/heap/text_heap_route.h"

static void print_row(FILE *out, const char *what, const struct rcore_chunk_sum *sum)
{
	fprintf(out, "%14" PRIu64 " %10" PRIu64 "  %s\n", sum->bytes, sum->count, what);
}

static void print_owner(FILE *out, const struct rcore_c_owner_row *row)
{
	static const char *const words[RCORE_C_OWNER_KINDS] = {
		[RCORE_C_OWNER_CLASS] = "",
		[RCORE_C_OWNER_DATA] = "static data of ",
		[RCORE_C_OWNER_PAGES] = "pages of the GC heap",
		[RCORE_C_OWNER_STACKS] = "machine stacks",
		[RCORE_C_OWNER_MAPPINGS] = "other memory",
		[RCORE_C_OWNER_NONE] = "no owner was found",
	};
	fprintf(out, "%14" PRIu64 " %10" PRIu64 " ", row->bytes, row->chunks);
	if (row->objects)
		fprintf(out, "%10" PRIu64, row->objects);
	else
		fprintf(out, "%10s", "");
	fprintf(out, "  %s", words[row->kind]);
	rcore_escape_write(out, row->name);
	putc('\n', out);
}

static void print_owners(const struct rcore_pen *pen, const struct rcore_c_memory *owners)
{
	FILE *out = pen->out;
	fputs("\n         bytes     chunks    objects  owner\n", out);
	for (size_t i = 0; i < owners->row_count; i++)
		print_owner(out, &owners->rows[i]);
	if (owners->row_count < owners->all_rows)
		fprintf(out, "       ... (%zu more owner%s; --limit prints more)\n",
			owners->all_rows - owners->row_count,
			rcore_plural(owners->all_rows - owners->row_count));
	fputs("\n         bytes     chunks  object\n", out);
	for (size_t i = 0; i < owners->object_count; i++) {
		const struct rcore_c_owner_object *item = &owners->objects[i];
		fprintf(out, "%14" PRIu64 " %10" PRIu64 "  ", item->bytes, item->chunks);
		rcore_text_object(pen, &item->object);
		putc('\n', out);
	}
	fprintf(out, "\nOf %" PRIu64 " bytes in use, %" PRIu64 " have an owner\n",
		owners->bytes, owners->owned_bytes);
	rcore_text_gaps(pen, &owners->gaps);
	rcore_text_redaction(pen, &owners->redaction);
}

/* What the rows of an allocator are called; NULL: it has no such row. */
struct words {
	const char *alone, *states[RCORE_CHUNK_STATES], *system;
};

static const struct words words_of[] = {
	[RCORE_MALLOC_GLIBC] =
		{
			.alone = "  of them with mappings of their own",
			.states = {[RCORE_CHUNK_FREE] = "free, in bins",
				   [RCORE_CHUNK_FAST] = "free, in fastbins",
				   [RCORE_CHUNK_CACHED] = "free, in caches of threads",
				   [RCORE_CHUNK_TOP] = "free, at the ends of arenas"},
			.system = "bytes",
		},
	[RCORE_MALLOC_JEMALLOC] =
		{
			.alone = "in use or cached, with extents of their own",
			.states = {[RCORE_CHUNK_FREE] = "free, in slabs",
				   [RCORE_CHUNK_CACHED] = "free, in caches of threads"},
			.system = "bytes of pages in use",
		},
};

static void print_chunks(FILE *out, const struct rcore_malloc *heap)
{
	const struct words *words = &words_of[heap->kind];
	fputs("\n         bytes     chunks\n", out);
	print_row(out, "in use", &heap->sums[RCORE_CHUNK_USED]);
	print_row(out, words->alone, &heap->mmapped);
	for (int state = 0; state < RCORE_CHUNK_STATES; state++)
		if (words->states[state])
			print_row(out, words->states[state], &heap->sums[state]);
	fprintf(out, "\n%zu arena%s, %" PRIu64 " %s\n", heap->arena_count,
		rcore_plural(heap->arena_count), heap->system_bytes, words->system);
}

struct rcore_error *rcore_report_malloc_text(const struct rcore_malloc_report *report,
					     const struct rcore_report_options *options,
					     FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	const struct rcore_malloc *heap = report->heap;
	fprintf(out, "Allocator: %s\n", heap->allocator ? heap->allocator : "unknown");
	if (heap->is_known)
		print_chunks(out, heap);
	if (heap->problem[0])
		rcore_styled(&pen, RCORE_STYLE_PROBLEM, "! %s\n", heap->problem);
	if (report->owners)
		print_owners(&pen, report->owners);
	if (report->problem)
		rcore_styled(&pen, RCORE_STYLE_PROBLEM,
			     "! owners of C memory are unknown: %s\n", report->problem);
	return rcore_pen_error(out);
}
