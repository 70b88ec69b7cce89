/* SPDX-License-Identifier: MIT */
#include "report/heap_diff.h"
#include "report/json/json_writer.h"
#include "report/redaction.h"
#include "report/text/style.h"

static void put_side(struct rcore_json *json, const struct rcore_diff_side *side)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "core", side->source);
	rcore_json_add_int(json, object, "objects", (int64_t)side->sum.count);
	rcore_json_add_int(json, object, "bytes", (int64_t)side->sum.bytes);
	if (side->c_memory) {
		struct json_object *memory = rcore_json_object(json);
		rcore_json_add_int(json, memory, "bytes", (int64_t)side->c_memory->bytes);
		rcore_json_add_int(json, memory, "chunks", (int64_t)side->c_memory->count);
		rcore_json_add(json, object, "c_memory", memory);
	}
	rcore_json_add_text(json, object, "doubt", side->doubt);
	rcore_json_add_count(json, object, "opaque", (int64_t)side->gaps.opaque);
	rcore_json_add_count(json, object, "partial", (int64_t)side->gaps.partial);
	rcore_json_add_count(json, object, "absent_pages", (int64_t)side->gaps.absent_pages);
	rcore_json_add_text(json, object, "problem", side->gaps.problem);
	rcore_json_put(json, NULL, object);
}

/* One element for each core. */
static void add_sums(struct rcore_json *json, struct json_object *object,
		     const struct rcore_diff_sum *sums, size_t count)
{
	struct json_object *counts = json_object_new_array(), *bytes = json_object_new_array();
	for (size_t i = 0; i < count; i++) {
		rcore_json_push(json, counts, json_object_new_int64((int64_t)sums[i].count));
		rcore_json_push(json, bytes, json_object_new_int64((int64_t)sums[i].bytes));
	}
	rcore_json_add(json, object, "objects_of_each", counts);
	rcore_json_add(json, object, "bytes_of_each", bytes);
}

static void put_growth(struct rcore_json *json, const struct rcore_diff_growth *growth,
		       size_t sides)
{
	struct json_object *object = rcore_json_object(json);
	struct json_object *steps = json_object_new_array();
	rcore_json_add_text(json, object, "class", growth->steps[growth->step_count - 1].klass);
	rcore_json_add_int(json, object, "objects", (int64_t)growth->count);
	rcore_json_add_int(json, object, "bytes", growth->bytes);
	rcore_json_add_count(json, object, "paths_that_grew_with_it", growth->followers);
	add_sums(json, object, growth->sides, sides);
	for (size_t i = 0; i < growth->step_count; i++) {
		struct json_object *step = rcore_json_object(json);
		rcore_json_add_text(json, step, "how", growth->steps[i].how);
		rcore_json_add_text(json, step, "class", growth->steps[i].klass);
		rcore_json_push(json, steps, step);
	}
	rcore_json_add(json, object, "path", steps);
	rcore_json_put(json, NULL, object);
}

struct rcore_error *rcore_report_heap_diff_json(const struct rcore_heap_diff *diff, FILE *out)
{
	struct rcore_json json = {.out = out};
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-heap-diff/1");
	rcore_json_redaction(&json, &diff->redaction);
	rcore_json_open(&json, "cores", '[');
	for (size_t i = 0; i < diff->side_count; i++)
		put_side(&json, &diff->sides[i]);
	rcore_json_close(&json, ']');
	rcore_json_open(&json, "paths", '[');
	for (size_t i = 0; i < diff->growth_count; i++)
		put_growth(&json, &diff->growths[i], diff->side_count);
	rcore_json_close(&json, ']');
	rcore_json_put_number(&json, "path_count", diff->all_growths);
	if (diff->is_cut)
		rcore_json_put(&json, "paths_are_cut", json_object_new_boolean(true));
	rcore_json_open(&json, "classes", '[');
	for (size_t i = 0; i < diff->class_count; i++) {
		struct json_object *object = rcore_json_object(&json);
		rcore_json_add_text(&json, object, "class", diff->classes[i].name);
		add_sums(&json, object, diff->classes[i].sides, diff->side_count);
		rcore_json_put(&json, NULL, object);
	}
	rcore_json_close(&json, ']');
	rcore_json_put_number(&json, "class_count", diff->all_classes);
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
