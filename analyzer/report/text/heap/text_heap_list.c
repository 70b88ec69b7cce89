/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/text.h"
#include "report/heap_list.h"
#include "report/redaction.h"
#include "report/text/style.h"

static void print_instance(const struct rcore_pen *pen, const struct rcore_heap_instance *item,
			   const struct rcore_value *value)
{
	fprintf(pen->out, "0x%016" PRIx64 " %4u %10" PRIu64 "%c  ", item->address, item->age,
		item->bytes, item->is_size_unknown ? '+' : ' ');
	rcore_escape_write(pen->out, value->text ? value->text : "?");
	putc('\n', pen->out);
	if (value->problem) {
		rcore_style(pen, RCORE_STYLE_PROBLEM);
		fputs("  ! ", pen->out);
		rcore_escape_write(pen->out, value->problem);
		rcore_style(pen, RCORE_STYLE_PLAIN);
		putc('\n', pen->out);
	}
}

struct rcore_error *rcore_report_heap_list_text(const struct rcore_heap_list *list,
						const struct rcore_report_options *options,
						FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	rcore_escape_write(out, list->klass);
	fprintf(out, ": %" PRIu64 " object%s", list->count, rcore_plural(list->count));
	if (list->count < list->total)
		fprintf(out, " of %" PRIu64, list->total);
	fprintf(out, ", %" PRIu64 " bytes\n", list->bytes);
	if (list->print.count)
		fputs("\naddress             age      bytes   inspect\n", out);
	for (size_t i = 0; i < list->print.count; i++)
		print_instance(&pen, &list->items[i], &list->print.items[i].value);
	if (list->print.count && list->print.count < list->count)
		fprintf(out, "... (%" PRIu64 " more; --limit 0 prints all)\n",
			list->count - list->print.count);
	if (list->absent_pages)
		rcore_styled(&pen, RCORE_STYLE_PROBLEM,
			     "! %" PRIu64 " page%s of the heap %s not in the core\n",
			     list->absent_pages, rcore_plural(list->absent_pages),
			     rcore_are(list->absent_pages));
	rcore_text_redaction(&pen, &list->print.redaction);
	return rcore_pen_error(out);
}
