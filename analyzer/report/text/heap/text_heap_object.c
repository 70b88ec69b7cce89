/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/heap_object.h"
#include "report/redaction.h"
#include "report/text/heap/text_heap_route.h"

void rcore_text_object(const struct rcore_pen *pen, const struct rcore_heap_object *object)
{
	rcore_escape_write(pen->out, object->klass);
	if (object->name) {
		putc(' ', pen->out);
		rcore_escape_write(pen->out, object->name);
	}
	if (object->thread_name) {
		fputs(" \"", pen->out);
		rcore_escape_write(pen->out, object->thread_name);
		putc('"', pen->out);
	}
	rcore_styled(pen, RCORE_STYLE_QUIET, " 0x%" PRIx64, object->address);
}

static void print_mark(const struct rcore_pen *pen, bool is_conservative)
{
	if (is_conservative)
		rcore_styled(pen, RCORE_STYLE_QUIET, " (may be another number)");
}

static void print_link(const struct rcore_pen *pen, const struct rcore_heap_link *link)
{
	if (link->how) {
		rcore_escape_write(pen->out, link->how);
		print_mark(pen, link->is_conservative);
		fputs(": ", pen->out);
	}
	rcore_text_object(pen, &link->object);
	putc('\n', pen->out);
}

void rcore_text_route(const struct rcore_pen *pen, const struct rcore_heap_route *route,
		      const char *indent)
{
	if (!route->root) {
		fprintf(pen->out, "%sno path from a root was found\n", indent);
		return;
	}
	fputs(indent, pen->out);
	rcore_escape_write(pen->out, route->root);
	print_mark(pen, route->is_conservative);
	putc('\n', pen->out);
	for (size_t i = 0; i < route->count; i++) {
		if (route->omitted && i == route->omitted_at)
			fprintf(pen->out, "%s  ... (%zu more)\n", indent, route->omitted);
		fprintf(pen->out, "%s  ", indent);
		print_link(pen, &route->links[i]);
	}
}

void rcore_text_vm_stacks(const char *klass, uint64_t count, uint64_t bytes, FILE *out)
{
	enum { WORTH_A_LINE = 64 << 10 };
	if (strcmp(klass, "Thread") == 0 && count && bytes / count >= WORTH_A_LINE)
		fprintf(out,
			"the %.1f MiB of Thread are mostly VM stacks, which count as a whole "
			"although most of their pages may never have been used\n",
			rcore_text_mebibytes(bytes));
}

void rcore_text_gaps(const struct rcore_pen *pen, const struct rcore_heap_gaps *gaps)
{
	if (gaps->opaque)
		fprintf(pen->out,
			"%" PRIu64 " object%s of extensions may have references that only "
			"the extension knows\n",
			gaps->opaque, rcore_plural(gaps->opaque));
	if (gaps->partial)
		rcore_styled(pen, RCORE_STYLE_PROBLEM,
			     "! %" PRIu64 " object%s could not be read completely\n",
			     gaps->partial, rcore_plural(gaps->partial));
	if (gaps->absent_pages)
		rcore_styled(pen, RCORE_STYLE_PROBLEM,
			     "! %" PRIu64 " page%s of the heap %s not in the core\n",
			     gaps->absent_pages, rcore_plural(gaps->absent_pages),
			     rcore_are(gaps->absent_pages));
	if (gaps->problem)
		rcore_styled(pen, RCORE_STYLE_PROBLEM, "! %s\n", gaps->problem);
}

struct rcore_error *rcore_report_refs_text(const struct rcore_heap_refs *refs,
					   const struct rcore_report_options *options,
					   FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	rcore_text_object(&pen, &refs->object);
	fprintf(out, ", %" PRIu64 " bytes\n\nPath from a root:\n", refs->object.bytes);
	rcore_text_route(&pen, &refs->route, "  ");
	fprintf(out, "\nReferences to it: %" PRIu64 "\n", refs->total);
	uint64_t shown = refs->referrer_count;
	for (size_t i = 0; i < refs->root_count; i++) {
		const struct rcore_heap_holder *root = &refs->roots[i];
		fputs("  ", out);
		rcore_escape_write(out, root->root);
		if (root->count > 1)
			fprintf(out, ", %" PRIu64 " %s", root->count,
				root->is_stack ? "words" : "times");
		putc('\n', out);
		shown += root->count;
	}
	for (size_t i = 0; i < refs->referrer_count; i++) {
		fputs("  ", out);
		print_link(&pen, &refs->referrers[i]);
	}
	if (shown < refs->total)
		fprintf(out, "  ... (%" PRIu64 " more; --limit 0 prints all)\n",
			refs->total - shown);
	if (refs->variable_count)
		fputs("Variables of C code that contain its address but are not roots:\n", out);
	for (size_t i = 0; i < refs->variable_count; i++) {
		fputs("  ", out);
		rcore_escape_write(out, refs->variables[i]);
		putc('\n', out);
	}
	putc('\n', out);
	rcore_text_gaps(&pen, &refs->gaps);
	rcore_text_redaction(&pen, &refs->redaction);
	return rcore_pen_error(out);
}

static void print_rows(FILE *out, const char *what, const struct rcore_retained_row *rows,
		       size_t count)
{
	fprintf(out, "\n     retained           own      count  %s\n", what);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%13" PRIu64 " ", rows[i].retained);
		if (rows[i].bytes)
			fprintf(out, "%13" PRIu64, rows[i].bytes);
		else
			fprintf(out, "%13s", "");
		fprintf(out, " %10" PRIu64 "  ", rows[i].count);
		rcore_escape_write(out, rows[i].name);
		putc('\n', out);
	}
}

static void print_objects(const struct rcore_pen *pen, const char *what,
			  const struct rcore_retained_object *items, size_t count)
{
	if (count)
		fprintf(pen->out, "\n     retained           own  %s and path\n", what);
	for (size_t i = 0; i < count; i++) {
		fprintf(pen->out, "%13" PRIu64 " %13" PRIu64 "  ", items[i].object.retained,
			items[i].object.bytes);
		rcore_text_object(pen, &items[i].object);
		putc('\n', pen->out);
		rcore_text_route(pen, &items[i].route, "                               ");
	}
}

struct rcore_error *rcore_report_retained_text(const struct rcore_heap_retained *retained,
					       const struct rcore_report_options *options,
					       FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	fprintf(out,
		"%" PRIu64 " of %" PRIu64 " objects are reachable: %" PRIu64 " of %" PRIu64
		" bytes\n",
		retained->reachable.count, retained->all.count, retained->reachable.bytes,
		retained->all.bytes);
	print_objects(&pen, "object", retained->objects, retained->object_count);
	print_rows(out, "class", retained->classes, retained->class_count);
	for (size_t i = 0; i < retained->class_count; i++)
		rcore_text_vm_stacks(retained->classes[i].name, retained->classes[i].count,
				     retained->classes[i].bytes, out);
	print_rows(out, "root", retained->roots, retained->root_count);
	print_objects(&pen, "Ractor, thread, class or module,", retained->holders,
		      retained->holder_count);
	putc('\n', out);
	rcore_text_gaps(&pen, &retained->gaps);
	rcore_text_redaction(&pen, &retained->redaction);
	return rcore_pen_error(out);
}
