/* SPDX-License-Identifier: MIT */
#include "report/profile/measures.h"
#include "report/profile/page/page.h"
#include "report/profile/processes.h"

/* The processes of a page, those that did the most first. */

static void put_row(struct rcore_page_writer *writer, const struct rcore_process_rows *rows,
		    const struct rcore_process_row *row)
{
	const struct rcore_profile *profile = writer->report->totals->profile;
	const struct rcore_process_total *new = &row->sides[RCORE_SIDE_NEW];
	struct rcore_json *json = &writer->json;
	char id[RCORE_PROFILE_PROCESS_ID_SIZE], role[RCORE_PROCESS_ROLE_SIZE];
	rcore_json_open(json, NULL, '{');
	rcore_json_put_text(
		json, "id",
		rcore_profile_process_id(rcore_profile_process_at(profile, row->process), id));
	rcore_json_put_text(json, "role", rcore_process_role_of(profile, row->process, role));
	rcore_json_put(json, "title",
		       rcore_page_text(writer, rcore_process_title_of(profile, row->process)));
	rcore_json_put_number(json, "amount", rcore_measured(new->amounts, rows->measure));
	rcore_json_put_number(
		json, "old", rcore_measured(row->sides[RCORE_SIDE_OLD].amounts, rows->measure));
	rcore_json_put_number(json, "samples", new->amounts.count);
	rcore_json_put_number(json, "threads", new->threads);
	rcore_json_put_number(json, "gvl", new->gvl);
	rcore_json_put_number(json, "ended", new->ended);
	rcore_json_close(json, '}');
}

struct rcore_error *rcore_page_put_processes(struct rcore_page_writer *writer)
{
	struct rcore_json *json = &writer->json;
	struct rcore_process_rows rows;
	struct rcore_error *err = rcore_process_rows_init(writer->report, &rows);
	if (err)
		return err;
	rcore_json_open(json, "processes", '{');
	rcore_json_put_text(json, "title", rcore_measure_words[rows.measure].title);
	rcore_json_put_number(json, "whole", rows.whole[RCORE_SIDE_NEW]);
	rcore_json_put(json, "has_gvl", json_object_new_boolean(rows.has_gvl));
	rcore_json_put_number(json, "count", rows.count);
	rcore_json_open(json, "rows", '[');
	for (size_t i = 0; i < rows.count && i < RCORE_PAGE_PROCESSES; i++)
		put_row(writer, &rows, &rows.items[i]);
	rcore_json_close(json, ']');
	rcore_json_close(json, '}');
	rcore_process_rows_deinit(&rows);
	return NULL;
}
