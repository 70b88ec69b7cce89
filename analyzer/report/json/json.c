/* SPDX-License-Identifier: MIT */
#include "report/json/json.h"

#include "report/text/style.h"

struct rcore_error *rcore_report_json(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options, FILE *out)
{
	struct rcore_pick pick;
	struct rcore_error *err = rcore_pick_any(snapshot, options, &pick);
	if (err)
		return err;
	struct rcore_json json = {.out = out};
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore/1");
	rcore_json_target(&json, snapshot);
	rcore_json_summary(&json, snapshot);
	rcore_json_threads(&json, snapshot, &pick);
	rcore_json_fibers(&json, snapshot, &pick);
	rcore_json_tasks(&json, snapshot);
	rcore_json_locks(&json, snapshot);
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
