/* SPDX-License-Identifier: MIT */
#include "report/text/text_triage.h"

#include "base/text.h"
#include "report/text/text.h"
#include "triage/summary.h"

void rcore_text_blame(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	const struct rcore_blame *blame = &snapshot->blame;
	if (!blame->present)
		return;
	fputs("Blame: ", pen->out);
	rcore_styled_text(pen, RCORE_STYLE_CAUSE, blame->name ? blame->name : "(no name)");
	if (blame->module) {
		fputs("  ", pen->out);
		rcore_escape_write(pen->out, blame->module);
	}
	if (blame->path) {
		fputs("  ", pen->out);
		rcore_escape_write(pen->out, blame->path);
		if (blame->line)
			fprintf(pen->out, ":%d", blame->line);
	}
	if (blame->gem) {
		fputs("  gem ", pen->out);
		rcore_escape_write(pen->out, blame->gem);
	}
	if (blame->native) {
		fputs(", in ", pen->out);
		rcore_escape_write(pen->out, blame->native);
	}
	rcore_styled(pen, RCORE_STYLE_QUIET, "  (%s)", blame->why);
	putc('\n', pen->out);
}

void rcore_text_signature(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	const struct rcore_signature *signature = &snapshot->signature;
	if (!signature->strict)
		return;
	fprintf(pen->out, "Signature: %s", signature->loose);
	rcore_styled(pen, RCORE_STYLE_QUIET, "  (strict %s)", signature->strict);
	putc('\n', pen->out);
}

/* Which line of the summary begins with which word. */
static const char *const titles[RCORE_SUMMARY_KINDS] = {
	[RCORE_SUMMARY_LOCK] = "Blocked", [RCORE_SUMMARY_QUEUE] = "Blocked",
	[RCORE_SUMMARY_GVL] = "GVL",      [RCORE_SUMMARY_CONNECTIONS] = "Blocked",
	[RCORE_SUMMARY_POOL] = "Pool",    [RCORE_SUMMARY_FIBERS] = "Fibers",
	[RCORE_SUMMARY_JOIN] = "Blocked",
};

const char *rcore_summary_title(const struct rcore_summary_line *line)
{
	return titles[line->kind];
}

void rcore_text_summary(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->summary_count; i++) {
		const struct rcore_summary_line *line = &snapshot->summary[i];
		bool is_blocked = rcore_summary_is_blocked(line);
		if (is_blocked)
			rcore_style(pen, RCORE_STYLE_CAUSE);
		fprintf(pen->out, "%s: %s", titles[line->kind], line->text);
		if (is_blocked)
			rcore_style(pen, RCORE_STYLE_PLAIN);
		putc('\n', pen->out);
	}
}
