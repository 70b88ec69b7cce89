/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/text.h"
#include "report/heap_verify.h"
#include "report/redaction.h"
#include "report/text/style.h"
#include "report/text/heap/text_heap_route.h"

static void print_defect(const struct rcore_pen *pen, const struct rcore_heap_defect *defect)
{
	fprintf(pen->out, "%s: ", rcore_heap_defect_name(defect->kind));
	rcore_text_object(pen, &defect->object);
	if (defect->how) {
		putc(' ', pen->out);
		rcore_escape_write(pen->out, defect->how);
	}
	fputs(": ", pen->out);
	if (defect->target.klass)
		rcore_text_object(pen, &defect->target);
	else
		fprintf(pen->out, "0x%" PRIx64, defect->value);
	putc('\n', pen->out);
}

struct rcore_error *rcore_report_heap_verify_text(const struct rcore_heap_verified *verified,
						  const struct rcore_report_options *options,
						  FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	uint64_t all = 0;
	for (size_t i = 0; i < verified->defect_count; i++)
		print_defect(&pen, &verified->defects[i]);
	for (int kind = 0; kind < RCORE_DEFECT_KINDS; kind++)
		all += verified->counts[kind];
	if (verified->defect_count < all)
		fprintf(out, "... (%" PRIu64 " more; --limit 0 prints all)\n",
			all - verified->defect_count);
	fprintf(out,
		"%" PRIu64 " objects and %" PRIu64 " references checked: %" PRIu64
		" defect%s\n",
		verified->objects, verified->references, all, rcore_plural(all));
	if (verified->unchecked)
		fprintf(out, "Not checked: %s\n", verified->unchecked);
	rcore_text_gaps(&pen, &verified->gaps);
	rcore_text_redaction(&pen, &verified->redaction);
	return rcore_pen_error(out);
}
