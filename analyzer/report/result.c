/* SPDX-License-Identifier: MIT */
#include "report/result.h"

#include <string.h>

#include "base/count.h"
#include "report/json/json_writer.h"
#include "report/text/style.h"

#define SCHEMA "rcore-triage/1"

/* The texts of a result, by their keys. */
struct text_member {
	const char *key;
	size_t offset;
};
#define TEXT(name)                                         \
	{                                                  \
#name, offsetof(struct rcore_result, name) \
	}
static const struct text_member texts[] = {
	TEXT(core), TEXT(ruby),          TEXT(cause),  TEXT(blame),      TEXT(path),
	TEXT(gem),  TEXT(loose),         TEXT(strict), TEXT(loose_text), TEXT(error),
	TEXT(bug),  TEXT(abort_message), TEXT(native),
};

struct rcore_result rcore_result_of(const char *core, int status,
				    const struct rcore_snapshot *snapshot, const char *error)
{
	struct rcore_result result = {.core = core, .status = status, .error = error};
	if (!snapshot)
		return result;
	const struct rcore_blame *blame = &snapshot->blame;
	result.ruby = snapshot->ruby_version;
	result.cause = snapshot->cause.text;
	result.bug = snapshot->cause.bug;
	result.abort_message = snapshot->cause.abort_message;
	result.loose = snapshot->signature.loose;
	result.strict = snapshot->signature.strict;
	result.loose_text = snapshot->signature.loose_text;
	if (blame->present) {
		result.blame = blame->name ? blame->name : blame->module;
		result.path = blame->path;
		result.line = blame->line;
		result.gem = blame->gem;
		result.native = blame->native;
	}
	return result;
}

struct rcore_error *rcore_result_write(const struct rcore_result *result, FILE *out)
{
	struct rcore_json json = {.out = out};
	struct json_object *object = rcore_json_object(&json);
	rcore_json_add_text(&json, object, "schema", SCHEMA);
	rcore_json_add_int(&json, object, "status", result->status);
	rcore_json_add_count(&json, object, "line", result->line);
	for (size_t i = 0; i < RCORE_COUNT(texts); i++)
		rcore_json_add_text(
			&json, object, texts[i].key,
			*(const char *const *)((const char *)result + texts[i].offset));
	rcore_json_put(&json, NULL, object);
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}

static bool take_text(struct json_object *object, const char *key, struct rcore_arena *arena,
		      const char **ret)
{
	struct json_object *member;
	*ret = NULL;
	if (!json_object_object_get_ex(object, key, &member))
		return true;
	if (!json_object_is_type(member, json_type_string))
		return true;
	*ret = rcore_arena_strdup(arena, json_object_get_string(member));
	return *ret;
}

static int take_int(struct json_object *object, const char *key)
{
	struct json_object *member;
	return json_object_object_get_ex(object, key, &member) ? json_object_get_int(member)
							       : 0;
}

static bool take_all(struct json_object *object, struct rcore_arena *arena,
		     struct rcore_result *result)
{
	for (size_t i = 0; i < RCORE_COUNT(texts); i++)
		if (!take_text(object, texts[i].key, arena,
			       (const char **)((char *)result + texts[i].offset)))
			return false;
	result->status = take_int(object, "status");
	result->line = take_int(object, "line");
	return true;
}

struct rcore_error *rcore_result_parse(const char *line, struct rcore_arena *arena,
				       struct rcore_result *ret)
{
	struct rcore_result result = {0};
	const char *schema = NULL;
	struct rcore_error *err = NULL;
	struct json_object *object = json_tokener_parse(line);
	if (!json_object_is_type(object, json_type_object) ||
	    !take_text(object, "schema", arena, &schema) || !schema ||
	    strcmp(schema, SCHEMA) != 0)
		err = rcore_error_create(RCORE_ERROR_FORMAT,
					 "not a result of rcore triage (\"schema\": \"" SCHEMA
					 "\")");
	else if (!take_all(object, arena, &result))
		err = rcore_error_no_memory();
	else if (!result.core)
		err = rcore_error_create(RCORE_ERROR_FORMAT,
					 "a result without the name of a core");
	json_object_put(object);
	if (!err)
		*ret = result;
	return err;
}
