/* SPDX-License-Identifier: MIT */
#include "json_schema.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/count.h"

struct check {
	struct json_object *root;
	char *why;
	size_t why_size;
};

static bool fail(struct check *check, const char *path, const char *what)
{
	snprintf(check->why, check->why_size, "%s: %s", path[0] ? path : "(top)", what);
	return false;
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;
	return json_object_object_get_ex(object, key, &value) ? value : NULL;
}

static bool has_type(struct json_object *value, const char *type)
{
	static const struct {
		const char *name;
		enum json_type type;
	} types[] = {{"object", json_type_object},
		     {"array", json_type_array},
		     {"string", json_type_string},
		     {"integer", json_type_int},
		     {"boolean", json_type_boolean}};
	for (size_t i = 0; i < RCORE_COUNT(types); i++)
		if (strcmp(types[i].name, type) == 0)
			return json_object_is_type(value, types[i].type);
	return false;
}

static bool matches(const char *pattern, const char *text)
{
	regex_t regex;
	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	bool found = regexec(&regex, text, 0, NULL, 0) == 0;
	regfree(&regex);
	return found;
}

static bool valid(struct check *check, struct json_object *schema, struct json_object *value,
		  const char *path);

static bool valid_object(struct check *check, struct json_object *schema,
			 struct json_object *value, const char *path)
{
	char inner[256];
	struct json_object *required = member(schema, "required");
	for (size_t i = 0; required && i < json_object_array_length(required); i++) {
		const char *key =
			json_object_get_string(json_object_array_get_idx(required, i));
		if (!json_object_object_get_ex(value, key, NULL)) {
			snprintf(inner, sizeof(inner), "%s.%s", path, key);
			return fail(check, inner, "is missing");
		}
	}
	json_object_object_foreach(value, key, field)
	{
		struct json_object *rule = member(member(schema, "properties"), key);
		snprintf(inner, sizeof(inner), "%s.%s", path, key);
		if (!rule)
			return fail(check, inner, "is not in the schema");
		if (!valid(check, rule, field, inner))
			return false;
	}
	return true;
}

static bool valid_array(struct check *check, struct json_object *schema,
			struct json_object *value, const char *path)
{
	for (size_t i = 0; i < json_object_array_length(value); i++) {
		char inner[256];
		snprintf(inner, sizeof(inner), "%s[%zu]", path, i);
		if (!valid(check, member(schema, "items"), json_object_array_get_idx(value, i),
			   inner))
			return false;
	}
	return true;
}

static bool valid(struct check *check, struct json_object *schema, struct json_object *value,
		  const char *path)
{
	struct json_object *rule = member(schema, "$ref");
	if (rule) {
		const char *name = json_object_get_string(rule) + strlen("#/$defs/");
		schema = member(member(check->root, "$defs"), name);
	}
	if ((rule = member(schema, "const")) && !json_object_equal(rule, value))
		return fail(check, path, "is not the constant");
	if ((rule = member(schema, "enum"))) {
		bool found = false;
		for (size_t i = 0; i < json_object_array_length(rule); i++)
			found |= json_object_equal(json_object_array_get_idx(rule, i), value);
		if (!found)
			return fail(check, path, "is none of the words");
	}
	if ((rule = member(schema, "type")) && !has_type(value, json_object_get_string(rule)))
		return fail(check, path, "has another type");
	if ((rule = member(schema, "pattern")) &&
	    !matches(json_object_get_string(rule), json_object_get_string(value)))
		return fail(check, path, "does not match the pattern");
	if (json_object_is_type(value, json_type_object))
		return valid_object(check, schema, value, path);
	if (json_object_is_type(value, json_type_array))
		return valid_array(check, schema, value, path);
	return true;
}

bool json_schema_valid(struct json_object *schema, struct json_object *document, char *why,
		       size_t why_size)
{
	struct check check = {.root = schema, .why = why, .why_size = why_size};
	return valid(&check, schema, document, "");
}
