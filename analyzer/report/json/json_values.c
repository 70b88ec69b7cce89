/* SPDX-License-Identifier: MIT */
#include "report/json/json_values.h"

#include "report/names.h"

void rcore_json_add_value(struct rcore_json *json, struct json_object *object,
			  const struct rcore_value *value)
{
	rcore_json_add_hex(json, object, "value", value->value);
	rcore_json_add_text(json, object, "class", value->class_name);
	rcore_json_add_text(json, object, "text", value->text);
	rcore_json_add_text(json, object, "problem", value->problem);
}

/* Returns an object with what rcore_json_add_value() writes. */
static struct json_object *json_value(struct rcore_json *json, const struct rcore_value *value)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_value(json, object, value);
	return object;
}

static struct json_object *variable_object(struct rcore_json *json,
					   const struct rcore_variable *variable)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "name", variable->name);
	rcore_json_add_value(json, object, &variable->value);
	rcore_json_add_text(json, object, "name_problem", variable->problem);
	return object;
}

struct json_object *rcore_json_variables(struct rcore_json *json,
					 const struct rcore_variable *variables, size_t count)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < count; i++)
		rcore_json_push(json, array, variable_object(json, &variables[i]));
	return array;
}

void rcore_json_add_variables(struct rcore_json *json, struct json_object *object,
			      const char *key, const char *problem_key,
			      const struct rcore_variables *variables)
{
	if (variables->count)
		rcore_json_add(json, object, key,
			       rcore_json_variables(json, variables->items, variables->count));
	rcore_json_add_text(json, object, problem_key, variables->problem);
}

void rcore_json_put_variables(struct rcore_json *json, const char *key, const char *problem_key,
			      const struct rcore_variables *variables)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_variables(json, object, key, problem_key, variables);
	rcore_json_put_members(json, object);
}

static struct json_object *locals_array(struct rcore_json *json,
					const struct rcore_frame_values *values,
					bool are_arguments)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < values->local_count; i++) {
		const struct rcore_local *local = &values->locals[i];
		bool is_argument = local->parameter != RCORE_PARAMETER_NONE && !local->level;
		if (is_argument != are_arguments)
			continue;
		struct json_object *object = variable_object(json, &local->variable);
		rcore_json_add_text(json, object, "parameter",
				    rcore_parameter_name(local->parameter));
		rcore_json_add_count(json, object, "level", local->level);
		rcore_json_add_flag(json, object, "hidden", local->is_hidden);
		rcore_json_push(json, array, object);
	}
	return array;
}

void rcore_json_add_frame_values(struct rcore_json *json, struct json_object *object,
				 const struct rcore_frame_values *values)
{
	if (!values)
		return;
	if (values->has_self)
		rcore_json_add(json, object, "self_value", json_value(json, &values->self));
	if (values->has_arguments)
		rcore_json_add(json, object, "arguments", locals_array(json, values, true));
	if (values->has_locals)
		rcore_json_add(json, object, "locals", locals_array(json, values, false));
	rcore_json_add_text(json, object, "values_problem", values->problem);
}
