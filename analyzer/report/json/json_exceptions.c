/* SPDX-License-Identifier: MIT */
#include "report/json/json.h"

static struct json_object *location_object(struct rcore_json *json,
					   const struct rcore_backtrace_location *location)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "path", location->path);
	rcore_json_add_count(json, object, "line", location->line);
	rcore_json_add_text(json, object, "label", location->label);
	rcore_json_add_text(json, object, "text", location->text);
	rcore_json_add_text(json, object, "problem", location->problem);
	return object;
}

static struct json_object *exception_object(struct rcore_json *json,
					    const struct rcore_exception *exception)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "class", exception->class_name);
	rcore_json_add_text(json, object, "message", exception->message);
	rcore_json_add_hex(json, object, "object", exception->object);
	if (exception->frame >= 0)
		rcore_json_add_int(json, object, "frame", exception->frame);
	rcore_json_add_flag(json, object, "ring", exception->is_ring);
	rcore_json_add_text(json, object, "problem", exception->problem);
	if (exception->backtrace) {
		struct json_object *backtrace = json_object_new_array();
		for (size_t i = 0; i < exception->location_count; i++)
			rcore_json_push(json, backtrace,
					location_object(json, &exception->backtrace[i]));
		rcore_json_add(json, object, "backtrace", backtrace);
	}
	rcore_json_add_count(json, object, "backtrace_left_out", (int64_t)exception->left_out);
	return object;
}

/*
 * Returns an exception, its cause, and so on: an array, however long the chain
 * is.
 */
static struct json_object *chain(struct rcore_json *json,
				 const struct rcore_exception *exception)
{
	struct json_object *object = exception_object(json, exception);
	if (!exception->cause)
		return object;
	struct json_object *causes = json_object_new_array();
	for (const struct rcore_exception *cause = exception->cause; cause;
	     cause = cause->cause)
		rcore_json_push(json, causes, exception_object(json, cause));
	rcore_json_add(json, object, "causes", causes);
	return object;
}

void rcore_json_exceptions(struct rcore_json *json, const struct rcore_fiber *fiber)
{
	if (!fiber->exception_count)
		return;
	rcore_json_open(json, "exceptions", '[');
	for (size_t i = 0; i < fiber->exception_count; i++)
		rcore_json_put(json, NULL, chain(json, &fiber->exceptions[i]));
	rcore_json_close(json, ']');
}
