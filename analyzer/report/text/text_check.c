/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "report/report.h"
#include "report/text/style.h"
#include "report/names.h"

static const struct {
	const char *word, *summary;
	enum rcore_style style;
} states[] = {
	[RCORE_FIELD_PROVED] = {"proved", "proved", RCORE_STYLE_GOOD},
	[RCORE_FIELD_WRONG] = {"WRONG", "wrong", RCORE_STYLE_CAUSE},
	[RCORE_FIELD_SILENT] = {"not here", "without data in this target", RCORE_STYLE_PLAIN},
	[RCORE_FIELD_NO_PROOF] = {"no proof", "without a check", RCORE_STYLE_QUIET},
	[RCORE_FIELD_UNMEASURED] = {"unknown", "not measured for this Ruby",
				    RCORE_STYLE_PROBLEM},
};
enum { STATES = RCORE_COUNT(states) };

/*
 * Prints the fields of one struct in one state: "proved thread vm 32, ec 48".
 */
static void print_state(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot,
			size_t first, enum rcore_field_state state)
{
	const char *group = snapshot->field_checks[first].group, *before = "";
	for (size_t i = first; i < snapshot->field_check_count; i++) {
		const struct rcore_field_check *check = &snapshot->field_checks[i];
		if (strcmp(check->group, group))
			break;
		if (check->state != state)
			continue;
		if (!*before) {
			rcore_style(pen, states[state].style);
			fprintf(pen->out, "  %-9s", states[state].word);
			rcore_style(pen, RCORE_STYLE_PLAIN);
			fprintf(pen->out, " %-14s", group);
		}
		fprintf(pen->out, "%s %s", before, check->id);
		if (state != RCORE_FIELD_UNMEASURED)
			fprintf(pen->out, " %d", check->offset);
		if (state == RCORE_FIELD_NO_PROOF)
			fprintf(pen->out, " (%s)", check->reason);
		before = ",";
	}
	if (*before)
		putc('\n', pen->out);
}

static void print_fields(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->field_check_count; i++)
		if (!i || strcmp(snapshot->field_checks[i].group,
				 snapshot->field_checks[i - 1].group))
			for (int state = 0; state < STATES; state++)
				print_state(pen, snapshot, i, (enum rcore_field_state)state);
}

static void print_sum(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	size_t counts[STATES] = {0};
	for (size_t i = 0; i < snapshot->field_check_count; i++)
		counts[snapshot->field_checks[i].state]++;
	fprintf(pen->out, "\n%zu fields:", snapshot->field_check_count);
	for (int state = 0; state < STATES; state++)
		if (counts[state] || state != RCORE_FIELD_UNMEASURED)
			fprintf(pen->out, "%s %zu %s", state ? "," : "", counts[state],
				states[state].summary);
	putc('\n', pen->out);
}

struct rcore_error *rcore_report_check(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out)
{
	const struct rcore_pen pen = {out, options && options->color};
	fputs("Layout ", out);
	rcore_escape_write(out, snapshot->layout_name ? snapshot->layout_name : "unknown");
	fprintf(out, ", %s, of Ruby ",
		snapshot->layout_source ? snapshot->layout_source : "source unknown");
	rcore_escape_write(out, snapshot->ruby_version ? snapshot->ruby_version : "unknown");
	putc('\n', out);
	rcore_write_shifts(snapshot, out);
	print_fields(&pen, snapshot);
	print_sum(&pen, snapshot);
	return rcore_pen_error(out);
}
