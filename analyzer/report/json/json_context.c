/* SPDX-License-Identifier: MIT */
#include "report/json/json.h"
#include "report/json/json_values.h"

static struct json_object *pair_object(struct rcore_json *json,
				       const struct rcore_context_pair *pair)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "name", pair->variable.name);
	rcore_json_add_value(json, object, &pair->variable.value);
	rcore_json_add_text(json, object, "name_problem", pair->variable.problem);
	rcore_json_add_hex(json, object, "id", pair->key);
	rcore_json_add_int(json, object, "slot", (int64_t)pair->slot);
	return object;
}

struct json_object *rcore_json_context(struct rcore_json *json,
				       const struct rcore_context *context)
{
	struct json_object *object = rcore_json_object(json);
	struct json_object *pairs = json_object_new_array();
	json->no_memory |= !pairs;
	for (size_t i = 0; i < context->pair_count && pairs; i++)
		if (json_object_array_add(pairs, pair_object(json, &context->pairs[i])))
			json->no_memory = true;
	rcore_json_add_hex(json, object, "object", context->object);
	rcore_json_add_hex(json, object, "table", context->table);
	rcore_json_add_int(json, object, "size", (int64_t)context->size);
	rcore_json_add_int(json, object, "capacity", (int64_t)context->capacity);
	rcore_json_add(json, object, "pairs", pairs);
	if (context->has_thread_local)
		rcore_json_add_hex(json, object, "thread_local", context->thread_local_table);
	rcore_json_add_text(json, object, "difference", context->difference);
	rcore_json_add_text(json, object, "problem", context->problem);
	return object;
}
