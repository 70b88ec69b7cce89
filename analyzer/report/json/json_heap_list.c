/* SPDX-License-Identifier: MIT */
#include "report/heap_list.h"
#include "report/json/json_writer.h"
#include "report/redaction.h"
#include "report/text/style.h"

static void put_instance(struct rcore_json *json, const struct rcore_heap_instance *item,
			 const struct rcore_value *value)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_hex(json, object, "address", item->address);
	rcore_json_add_int(json, object, "age", item->age);
	rcore_json_add_int(json, object, "bytes", (int64_t)item->bytes);
	rcore_json_add_flag(json, object, "size_unknown", item->is_size_unknown);
	rcore_json_add_text(json, object, "text", value->text);
	rcore_json_add_text(json, object, "problem", value->problem);
	rcore_json_put(json, NULL, object);
}

struct rcore_error *rcore_report_heap_list_json(const struct rcore_heap_list *list, FILE *out)
{
	struct rcore_json json = {.out = out};
	struct json_object *totals = rcore_json_object(&json);
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-heap-list/1");
	rcore_json_redaction(&json, &list->print.redaction);
	rcore_json_add_text(&json, totals, "class", list->klass);
	rcore_json_add_int(&json, totals, "class_count", (int64_t)list->total);
	rcore_json_add_int(&json, totals, "count", (int64_t)list->count);
	rcore_json_add_int(&json, totals, "bytes", (int64_t)list->bytes);
	rcore_json_add_count(&json, totals, "absent_pages", (int64_t)list->absent_pages);
	rcore_json_put_members(&json, totals);
	rcore_json_open(&json, "objects", '[');
	for (size_t i = 0; i < list->print.count; i++)
		put_instance(&json, &list->items[i], &list->print.items[i].value);
	rcore_json_close(&json, ']');
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
