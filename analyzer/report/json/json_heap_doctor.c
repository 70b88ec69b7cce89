/* SPDX-License-Identifier: MIT */
#include "report/heap_doctor.h"
#include "report/json/json_heap_route.h"
#include "report/redaction.h"
#include "report/text/style.h"

struct rcore_error *rcore_report_heap_doctor_json(const struct rcore_heap_doctor *doctor,
						  FILE *out)
{
	struct rcore_json json = {.out = out};
	struct json_object *counts = rcore_json_object(&json);
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-heap-doctor/1");
	rcore_json_redaction(&json, &doctor->redaction);
	rcore_json_add_int(&json, counts, "marked", (int64_t)doctor->marked);
	rcore_json_add_int(&json, counts, "reached", (int64_t)doctor->reached);
	rcore_json_put_members(&json, counts);
	rcore_json_open(&json, "missed", '[');
	for (size_t i = 0; i < doctor->missed_count; i++) {
		struct json_object *row = rcore_json_object(&json);
		rcore_json_add_text(&json, row, "class", doctor->missed[i].name);
		rcore_json_add_int(&json, row, "count", (int64_t)doctor->missed[i].count);
		rcore_json_put(&json, NULL, row);
	}
	rcore_json_close(&json, ']');
	rcore_json_open(&json, "rules", '[');
	for (size_t i = 0; i < doctor->rule_count; i++) {
		struct json_object *row = rcore_json_object(&json);
		rcore_json_add_text(&json, row, "type", doctor->rules[i].type);
		rcore_json_add_int(&json, row, "reached", (int64_t)doctor->rules[i].reached);
		rcore_json_put(&json, NULL, row);
	}
	rcore_json_close(&json, ']');
	rcore_json_put_gaps(&json, &doctor->gaps);
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
