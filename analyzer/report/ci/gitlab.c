/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "report/ci/finding.h"
#include "report/formats.h"
#include "report/json/json_writer.h"
#include "report/text/style.h"

/*
 * Code Quality: an array of violations. Each needs a place; if no frame of the
 * application is on the stack, it is the top folder.
 */
static void put_violation(struct rcore_json *json, const struct rcore_finding *finding)
{
	const struct rcore_finding_place *place =
		finding->place_count ? &finding->places[0] : NULL;
	struct json_object *object = rcore_json_object(json);
	struct json_object *location = rcore_json_object(json);
	struct json_object *lines = rcore_json_object(json);
	rcore_json_add_text(json, object, "description", finding->message);
	rcore_json_add_text(json, object, "check_name", finding->kind);
	rcore_json_add_text(json, object, "fingerprint", finding->fingerprint);
	rcore_json_add_text(json, object, "severity",
			    strcmp(finding->level, "error") ? "major" : "blocker");
	rcore_json_add_text(json, location, "path", place ? place->shown_path : ".");
	rcore_json_add_int(json, lines, "begin", place ? place->line : 1);
	rcore_json_add(json, location, "lines", lines);
	rcore_json_add(json, object, "location", location);
	rcore_json_put(json, NULL, object);
}

struct rcore_error *rcore_report_gitlab(const struct rcore_snapshot *snapshot,
					const struct rcore_report_options *options, FILE *out)
{
	struct rcore_arena arena = {0};
	struct rcore_finding finding;
	struct rcore_json json = {.out = out};
	struct rcore_error *err = rcore_finding_make(
		snapshot, options ? options->source_root : NULL, &arena, &finding);
	if (!err) {
		rcore_json_open(&json, NULL, '[');
		if (finding.present)
			put_violation(&json, &finding);
		rcore_json_close(&json, ']');
		putc('\n', out);
		err = json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
	}
	rcore_arena_deinit(&arena);
	return err;
}
