/* SPDX-License-Identifier: MIT */
#include "report/heap_verify.h"
#include "report/json/json_heap_route.h"
#include "report/redaction.h"
#include "report/text/style.h"

static void put_defect(struct rcore_json *json, const struct rcore_heap_defect *defect)
{
	struct json_object *object = rcore_json_object(json);
	struct json_object *parent = rcore_json_object(json);
	struct json_object *target = rcore_json_object(json);
	rcore_json_add_text(json, object, "defect", rcore_heap_defect_name(defect->kind));
	rcore_json_add_object(json, parent, &defect->object);
	rcore_json_add(json, object, "object", parent);
	rcore_json_add_text(json, object, "how", defect->how);
	rcore_json_add_hex(json, object, "value", defect->value);
	if (defect->target.klass) {
		rcore_json_add_object(json, target, &defect->target);
		rcore_json_add(json, object, "target", target);
	} else {
		json_object_put(target);
	}
	rcore_json_put(json, NULL, object);
}

struct rcore_error *rcore_report_heap_verify_json(const struct rcore_heap_verified *verified,
						  FILE *out)
{
	struct rcore_json json = {.out = out};
	struct json_object *counts = rcore_json_object(&json);
	struct json_object *kinds = rcore_json_object(&json);
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-heap-verify/1");
	rcore_json_redaction(&json, &verified->redaction);
	rcore_json_add_int(&json, counts, "objects", (int64_t)verified->objects);
	rcore_json_add_int(&json, counts, "references", (int64_t)verified->references);
	for (int kind = 0; kind < RCORE_DEFECT_KINDS; kind++)
		rcore_json_add_count(&json, kinds,
				     rcore_heap_defect_name((enum rcore_heap_defect_kind)kind),
				     (int64_t)verified->counts[kind]);
	rcore_json_add(&json, counts, "counts", kinds);
	rcore_json_add_text(&json, counts, "collector", verified->collector);
	rcore_json_add_text(&json, counts, "unchecked", verified->unchecked);
	rcore_json_put_members(&json, counts);
	rcore_json_open(&json, "defects", '[');
	for (size_t i = 0; i < verified->defect_count; i++)
		put_defect(&json, &verified->defects[i]);
	rcore_json_close(&json, ']');
	rcore_json_put_gaps(&json, &verified->gaps);
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
