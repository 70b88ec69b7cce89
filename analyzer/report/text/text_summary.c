/* SPDX-License-Identifier: MIT */
#include "report/text/text.h"

/* Which line of the summary begins with which word. */
static const char *const titles[RCORE_SUMMARY_KINDS] = {
	[RCORE_SUMMARY_LOCK] = "Blocked",
	[RCORE_SUMMARY_QUEUE] = "Blocked",
	[RCORE_SUMMARY_GVL] = "GVL",
	[RCORE_SUMMARY_POOL] = "Pool",
};

void rcore_text_summary(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->summary_count; i++) {
		const struct rcore_summary_line *line = &snapshot->summary[i];
		bool is_blocked =
			line->kind == RCORE_SUMMARY_LOCK || line->kind == RCORE_SUMMARY_QUEUE;
		if (is_blocked)
			rcore_style(pen, RCORE_STYLE_CAUSE);
		fprintf(pen->out, "%s: %s", titles[line->kind], line->text);
		if (is_blocked)
			rcore_style(pen, RCORE_STYLE_PLAIN);
		putc('\n', pen->out);
	}
}
