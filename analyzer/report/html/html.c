/* SPDX-License-Identifier: MIT */
#include "report/formats.h"
#include "report/html/page.h"
#include "report/pick.h"

/*
 * The report as a page. Its data is the JSON of the report (docs/json.md);
 * without scripts, a browser shows the text report.
 */

/* generated from the scripts of this folder, and its "sha256-..." */
extern const char rcore_html_script[], rcore_html_script_hash[];

struct writing {
	const struct rcore_snapshot *snapshot;
	const struct rcore_report_options *options;
};

static struct rcore_error *write_text(const void *context, FILE *out)
{
	const struct writing *writing = context;
	struct rcore_report_options plain =
		writing->options ? *writing->options : (struct rcore_report_options){0};
	plain.color = false;
	return rcore_report_text(writing->snapshot, &plain, out);
}

static struct rcore_error *write_data(const void *context, FILE *out)
{
	const struct writing *writing = context;
	return rcore_report_json(writing->snapshot, writing->options, out);
}

struct rcore_error *rcore_report_html(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options, FILE *out)
{
	const struct writing writing = {snapshot, options};
	const struct rcore_html_page page = {
		.title = snapshot->source ? snapshot->source : "report",
		.script = rcore_html_script,
		.script_hash = rcore_html_script_hash,
		.write_text = write_text,
		.write_data = write_data,
		.context = &writing,
	};
	struct rcore_pick pick;
	/* Before anything is written. */
	struct rcore_error *err = rcore_pick_any(snapshot, options, &pick);
	return err ? err : rcore_html_page_write(&page, out);
}
