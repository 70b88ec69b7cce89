/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "report/redaction.h"
#include "report/report.h"
#include "report/text/style.h"

static void print_problem(const struct rcore_pen *pen, const char *problem)
{
	if (!problem)
		return;
	rcore_style_problem(pen, problem);
	putc('\n', pen->out);
}

struct rcore_error *rcore_report_print_text(const struct rcore_print *print,
					    const struct rcore_report_options *options,
					    FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	for (size_t i = 0; i < print->count; i++) {
		const struct rcore_printed *printed = &print->items[i];
		rcore_escape_write(out, printed->value.text ? printed->value.text : "?");
		putc('\n', out);
		print_problem(&pen, printed->value.problem);
		if (!printed->value.problem)
			print_problem(&pen, printed->problem);
	}
	rcore_text_redaction(&pen, &print->redaction);
	return rcore_pen_error(out);
}
