/* SPDX-License-Identifier: MIT */
#include "report/json/json_values.h"
#include "report/json/json_writer.h"
#include "report/redaction.h"
#include "report/report.h"
#include "report/text/style.h"

static void add_child(struct rcore_json *json, struct json_object *object, const char *key,
		      const struct rcore_value *value)
{
	struct json_object *child = rcore_json_object(json);
	rcore_json_add_value(json, child, value);
	rcore_json_add(json, object, key, child);
}

static struct json_object *variables(struct rcore_json *json,
				     const struct rcore_printed *printed)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < printed->variable_count; i++) {
		const struct rcore_variable *variable = &printed->variables[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "name", variable->name);
		rcore_json_add_value(json, object, &variable->value);
		rcore_json_push(json, array, object);
	}
	return array;
}

static struct json_object *items(struct rcore_json *json, const struct rcore_printed *printed)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < printed->item_count; i++) {
		const struct rcore_element *item = &printed->items[i];
		struct json_object *object = rcore_json_object(json);
		if (item->has_key)
			add_child(json, object, "key", &item->key);
		add_child(json, object, "value", &item->value);
		rcore_json_push(json, array, object);
	}
	return array;
}

static void put_printed(struct rcore_json *json, const struct rcore_printed *printed)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_value(json, object, &printed->value);
	rcore_json_add_text(json, object, "type", printed->type);
	rcore_json_add_text(json, object, "data_type", printed->data_type);
	if (printed->variable_count)
		rcore_json_add(json, object, "variables", variables(json, printed));
	if (printed->items) {
		rcore_json_add_int(json, object, "item_count", (int64_t)printed->item_total);
		rcore_json_add(json, object, "items", items(json, printed));
	}
	rcore_json_add_text(json, object, "content_problem", printed->problem);
	rcore_json_put(json, NULL, object);
}

struct rcore_error *rcore_report_print_json(const struct rcore_print *print, FILE *out)
{
	struct rcore_json json = {.out = out};
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-print/1");
	rcore_json_redaction(&json, &print->redaction);
	rcore_json_open(&json, "values", '[');
	for (size_t i = 0; i < print->count; i++)
		put_printed(&json, &print->items[i]);
	rcore_json_close(&json, ']');
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
