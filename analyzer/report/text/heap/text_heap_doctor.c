/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/text.h"
#include "report/heap_doctor.h"
#include "report/redaction.h"
#include "report/text/style.h"
#include "report/text/heap/text_heap_route.h"

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

struct rcore_error *rcore_report_heap_doctor_text(const struct rcore_heap_doctor *doctor,
						  const struct rcore_report_options *options,
						  FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	fprintf(out,
		"%" PRIu64 " of %" PRIu64
		" objects that the last garbage collection marked are "
		"reachable: %.3f %%\n",
		doctor->reached, doctor->marked, percent(doctor->reached, doctor->marked));
	if (doctor->missed_count)
		fputs("not reached:\n", out);
	for (size_t i = 0; i < doctor->missed_count; i++) {
		fprintf(out, "%9" PRIu64 "  ", doctor->missed[i].count);
		rcore_escape_write(out, doctor->missed[i].name);
		putc('\n', out);
	}
	if (doctor->rule_count)
		fputs("reachable without the references of one type:\n", out);
	for (size_t i = 0; i < doctor->rule_count; i++)
		fprintf(out, "%9.3f %%  %s\n",
			percent(doctor->rules[i].reached, doctor->marked),
			doctor->rules[i].type);
	rcore_text_gaps(&pen, &doctor->gaps);
	rcore_text_redaction(&pen, &doctor->redaction);
	return rcore_pen_error(out);
}
