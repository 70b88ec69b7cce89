/* SPDX-License-Identifier: MIT */
#include "report/json/json.h"

static struct json_object *gc_object(struct rcore_json *json, const struct rcore_facts *facts)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "phase", facts->gc_phase);
	rcore_json_add_flag(json, object, "running", facts->in_gc);
	return object;
}

static struct json_object *argv_array(struct rcore_json *json, const struct rcore_facts *facts)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < facts->argc; i++) {
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "text", facts->argv[i]);
		rcore_json_push(json, array, object);
	}
	return array;
}

static struct json_object *gems_array(struct rcore_json *json, const struct rcore_facts *facts)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < facts->gem_count; i++) {
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "name", facts->gems[i].name);
		rcore_json_add_text(json, object, "version", facts->gems[i].version);
		rcore_json_push(json, array, object);
	}
	return array;
}

void rcore_json_facts(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	const struct rcore_facts *facts = &snapshot->facts;
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "description", facts->description);
	rcore_json_add_text(json, object, "jit", facts->jit);
	if (facts->gc_phase)
		rcore_json_add(json, object, "gc", gc_object(json, facts));
	rcore_json_add_count(json, object, "ractors", (int64_t)snapshot->ractor_count);
	if (facts->has_argv)
		rcore_json_add(json, object, "argv", argv_array(json, facts));
	rcore_json_add_text(json, object, "rubyopt", facts->rubyopt);
	rcore_json_add(json, object, "gems", gems_array(json, facts));
	rcore_json_add_text(json, object, "problem", facts->problem);
	rcore_json_put(json, "facts", object);
}
