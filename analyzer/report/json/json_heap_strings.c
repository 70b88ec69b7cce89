/* SPDX-License-Identifier: MIT */
#include "report/heap_strings.h"
#include "report/json/json_heap_route.h"
#include "report/redaction.h"
#include "report/text/style.h"

static void put_sum(struct rcore_json *json, const char *key,
		    const struct rcore_duplicated_sum *sum)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_int(json, object, "count", (int64_t)sum->count);
	rcore_json_add_int(json, object, "bytes", (int64_t)sum->bytes);
	rcore_json_add_int(json, object, "duplicates", (int64_t)sum->duplicates);
	rcore_json_add_int(json, object, "wasted", (int64_t)sum->wasted);
	rcore_json_put(json, key, object);
}

static void put_group(struct rcore_json *json, const struct rcore_duplicated *group,
		      const struct rcore_value *value)
{
	struct json_object *object = rcore_json_object(json);
	struct json_object *holders = json_object_new_array();
	struct json_object *first = rcore_json_object(json);
	rcore_json_add_int(json, object, "wasted", (int64_t)group->wasted);
	rcore_json_add_int(json, object, "count", (int64_t)group->count);
	rcore_json_add_int(json, object, "bytes", (int64_t)group->bytes);
	rcore_json_add_text(json, object, "text", value->text);
	rcore_json_add_text(json, object, "problem", value->problem);
	for (size_t i = 0; i < group->holder_count; i++) {
		struct json_object *holder = rcore_json_object(json);
		rcore_json_add_text(json, holder, "class", group->holders[i].klass);
		rcore_json_add_text(json, holder, "how", group->holders[i].how);
		rcore_json_add_int(json, holder, "count", (int64_t)group->holders[i].count);
		rcore_json_push(json, holders, holder);
	}
	rcore_json_add(json, object, "holders", holders);
	rcore_json_add_int(json, object, "holder_count", (int64_t)group->all_holders);
	rcore_json_add_object(json, first, &group->first);
	rcore_json_add_route(json, first, &group->route);
	rcore_json_add(json, object, "first", first);
	rcore_json_put(json, NULL, object);
}

struct rcore_error *rcore_report_heap_strings_json(const struct rcore_heap_strings *strings,
						   FILE *out)
{
	struct rcore_json json = {.out = out};
	struct json_object *counts = rcore_json_object(&json);
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-heap-strings/1");
	rcore_json_redaction(&json, &strings->print.redaction);
	put_sum(&json, "strings", &strings->strings);
	put_sum(&json, "arrays", &strings->arrays);
	rcore_json_add_int(&json, counts, "group_count", (int64_t)strings->all_groups);
	rcore_json_add_count(&json, counts, "unread", (int64_t)strings->unread);
	rcore_json_put_members(&json, counts);
	rcore_json_open(&json, "groups", '[');
	for (size_t i = 0; i < strings->print.count; i++)
		put_group(&json, &strings->groups[i], &strings->print.items[i].value);
	rcore_json_close(&json, ']');
	rcore_json_put_gaps(&json, &strings->gaps);
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
