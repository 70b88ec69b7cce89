/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_JSON_VALUES_H
#define RCORE_REPORT_JSON_VALUES_H

#include "model/locals.h"
#include "model/value.h"
#include "report/json/json_writer.h"

/* Adds a value's members to `object`: value, class, text, problem. */
void rcore_json_add_value(struct rcore_json *json, struct json_object *object,
			  const struct rcore_value *value);

/*
 * Writes the variables of a fiber or thread as an array under `key`, and why
 * the list ends early under `problem_key`; both keys are string constants.
 * Writes nothing if there are none.
 */
void rcore_json_put_variables(struct rcore_json *json, const char *key, const char *problem_key,
			      const struct rcore_variables *variables);
void rcore_json_add_variables(struct rcore_json *json, struct json_object *object,
			      const char *key, const char *problem_key,
			      const struct rcore_variables *variables);

/* Returns variables with their names as an array. */
struct json_object *rcore_json_variables(struct rcore_json *json,
					 const struct rcore_variable *variables, size_t count);

/* Adds self_value, arguments and locals of a frame; nothing for NULL. */
void rcore_json_add_frame_values(struct rcore_json *json, struct json_object *object,
				 const struct rcore_frame_values *values);

#endif
