/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/text.h"
#include "report/heap_strings.h"
#include "report/redaction.h"
#include "report/text/style.h"
#include "report/text/heap/text_heap_route.h"

static void print_sum(FILE *out, const char *what, const struct rcore_duplicated_sum *sum)
{
	fprintf(out,
		"%" PRIu64 " of %" PRIu64 " %s repeat another one: %" PRIu64 " of %" PRIu64
		" bytes are wasted\n",
		sum->duplicates, sum->count, what, sum->wasted, sum->bytes);
}

static void print_group(const struct rcore_pen *pen, const struct rcore_duplicated *group,
			const struct rcore_value *value)
{
	FILE *out = pen->out;
	fprintf(out, "\n%13" PRIu64 " %10" PRIu64 "  ", group->wasted, group->count);
	rcore_escape_write(out, value->text ? value->text : "?");
	putc('\n', out);
	for (size_t i = 0; i < group->holder_count; i++) {
		fprintf(out, "  held %8" PRIu64 " time%s by ", group->holders[i].count,
			rcore_plural(group->holders[i].count));
		rcore_escape_write(out, group->holders[i].klass);
		fputs(": ", out);
		rcore_escape_write(out, group->holders[i].how);
		putc('\n', out);
	}
	if (group->holder_count < group->all_holders)
		fprintf(out, "  ... (%zu more)\n", group->all_holders - group->holder_count);
	rcore_text_route(pen, &group->route, "    ");
}

struct rcore_error *rcore_report_heap_strings_text(const struct rcore_heap_strings *strings,
						   const struct rcore_report_options *options,
						   FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	print_sum(out, "Strings", &strings->strings);
	print_sum(out, "Arrays", &strings->arrays);
	if (strings->print.count)
		fputs("\n wasted bytes      count  contents, what holds them, and a path to "
		      "one\n",
		      out);
	for (size_t i = 0; i < strings->print.count; i++)
		print_group(&pen, &strings->groups[i], &strings->print.items[i].value);
	if (strings->print.count < strings->all_groups)
		fprintf(out, "\n... (%zu more)\n", strings->all_groups - strings->print.count);
	if (strings->unread)
		rcore_styled(&pen, RCORE_STYLE_PROBLEM,
			     "! the contents of %" PRIu64 " object%s could not be read\n",
			     strings->unread, rcore_plural(strings->unread));
	putc('\n', out);
	rcore_text_gaps(&pen, &strings->gaps);
	rcore_text_redaction(&pen, &strings->print.redaction);
	return rcore_pen_error(out);
}
