/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/text.h"
#include "report/profile/columns.h"
#include "report/profile/processes.h"

/*
 * The table of processes in the text: how much each of them did. It precedes
 * the tables of methods, which count all of them together.
 */

static void write_heading(const struct rcore_process_rows *rows, bool is_diff, FILE *out)
{
	const char *title = rows->measure == RCORE_MEASURE_CPU           ? "CPU s"
			    : rcore_measure_words[rows->measure].is_time ? "time s"
									 : "number";
	fprintf(out, "\n%s%9s %6s ", is_diff ? "  +change " : "", title, "");
	if (rows->has_gvl)
		fprintf(out, "%6s ", "GVL");
	fprintf(out, "%9s  process\n", "samples");
}

static void write_row(const struct rcore_profile_report *report,
		      const struct rcore_process_rows *rows,
		      const struct rcore_process_row *row, FILE *out)
{
	const struct rcore_profile *profile = report->totals->profile;
	const struct rcore_process_total *new = &row->sides[RCORE_SIDE_NEW];
	char id[RCORE_PROFILE_PROCESS_ID_SIZE], role[RCORE_PROCESS_ROLE_SIZE];
	const char *title = rcore_process_title_of(profile, row->process);
	uint64_t amounts[RCORE_SIDES];
	for (int side = 0; side < RCORE_SIDES; side++)
		amounts[side] = rcore_measured(row->sides[side].amounts, rows->measure);
	if (report->is_diff)
		rcore_column_change(rows->measure, amounts, out);
	rcore_column_amount(rows->measure, amounts[RCORE_SIDE_NEW], out);
	fprintf(out, " %5.1f%% ",
		rcore_percent(amounts[RCORE_SIDE_NEW], rows->whole[RCORE_SIDE_NEW]));
	if (rows->has_gvl)
		fprintf(out, "%5.1f%% ", rcore_percent(new->gvl, new->threads));
	fprintf(out, "%9" PRIu64 "  %s", new->amounts.count,
		rcore_profile_process_id(rcore_profile_process_at(profile, row->process), id));
	rcore_process_role_of(profile, row->process, role);
	fprintf(out, "%s%s%s%s", role[0] ? "  " : "", role, title[0] ? "  " : "", title);
	if (new->ended)
		fprintf(out, "  (ended after %.1f s)", (double)new->ended / 1e9);
	putc('\n', out);
}

struct rcore_error *rcore_profile_text_processes(const struct rcore_profile_report *report,
						 FILE *out)
{
	struct rcore_process_rows rows;
	struct rcore_error *err = rcore_process_rows_init(report, &rows);
	if (err)
		return err;
	size_t shown = report->rows && rows.count > report->rows ? report->rows : rows.count;
	if (rows.count > 1) {
		write_heading(&rows, report->is_diff, out);
		for (size_t i = 0; i < shown; i++)
			write_row(report, &rows, &rows.items[i], out);
		if (shown < rows.count)
			fprintf(out, "... and %zu more\n", rows.count - shown);
	}
	rcore_process_rows_deinit(&rows);
	return NULL;
}
