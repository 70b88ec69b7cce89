/* SPDX-License-Identifier: MIT */
#include "report/json/json.h"
#include "report/json/json_values.h"

static struct json_object *work_object(struct rcore_json *json, const struct rcore_work *work)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "recognizer", work->recognizer);
	rcore_json_add_text(json, object, "kind", work->kind);
	rcore_json_add_int(json, object, "frame", work->frame);
	rcore_json_add(json, object, "fields",
		       rcore_json_variables(json, work->fields.items, work->fields.count));
	return object;
}

void rcore_json_add_works(struct rcore_json *json, struct json_object *object,
			  const struct rcore_works *works)
{
	struct json_object *list = works->count ? json_object_new_array() : NULL;
	if (!works->count)
		return;
	json->no_memory |= !list;
	for (size_t i = 0; i < works->count && list; i++)
		if (json_object_array_add(list, work_object(json, &works->items[i])))
			json->no_memory = true;
	rcore_json_add(json, object, "works_on", list);
}
