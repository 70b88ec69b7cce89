/* SPDX-License-Identifier: MIT */
#include "report/result.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/json_member.h"
#include "report/json/json_writer.h"
#include "report/text/style.h"

/* The schemas that can be read; the last one is written. */
static const char *const schemas[] = {"rcore-triage/1", "rcore-triage/2"};
enum { WRITTEN = 1 };

/* The members of a result, by their keys. */
struct member {
	const char *key;
	size_t offset;
};
#define MEMBER(name)                                       \
	{                                                  \
#name, offsetof(struct rcore_result, name) \
	}
static const struct member texts[] = {
	MEMBER(core),          MEMBER(time),     MEMBER(time_source), MEMBER(host),
	MEMBER(host_source),   MEMBER(service),  MEMBER(release),     MEMBER(signal),
	MEMBER(ruby),          MEMBER(build_id), MEMBER(cause),       MEMBER(bug),
	MEMBER(abort_message), MEMBER(blame),    MEMBER(path),        MEMBER(gem),
	MEMBER(native),        MEMBER(loose),    MEMBER(strict),      MEMBER(loose_text),
	MEMBER(error),
};
static const struct member numbers[] = {MEMBER(pid), MEMBER(line)};
static const struct member lists[] = {MEMBER(ruby_frames), MEMBER(native_frames)};

static const void *at(const struct rcore_result *result, const struct member *member)
{
	return (const char *)result + member->offset;
}

static void *place(struct rcore_result *result, const struct member *member)
{
	return (char *)result + member->offset;
}

static void add_texts(struct rcore_json *json, struct json_object *object, const char *key,
		      const struct rcore_result_texts *list)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < list->count; i++)
		rcore_json_push(json, array, rcore_json_valid(json, list->items[i]));
	rcore_json_add(json, object, key, array);
}

static void add_counts(struct rcore_json *json, struct json_object *object, const char *key,
		       const uint64_t *counts, size_t count)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < count; i++)
		rcore_json_push(json, array, json_object_new_uint64(counts[i]));
	rcore_json_add(json, object, key, array);
}

static void add_heap(struct rcore_json *json, struct json_object *object,
		     const struct rcore_result_heap *heap)
{
	rcore_json_add_text(json, object, "heap_problem", heap->problem);
	if (!heap->is_known)
		return;
	rcore_json_add(json, object, "heap_objects", json_object_new_uint64(heap->objects));
	rcore_json_add(json, object, "heap_bytes", json_object_new_uint64(heap->bytes));
	add_texts(json, object, "heap_classes", &heap->classes);
	add_counts(json, object, "heap_class_objects", heap->class_objects,
		   heap->classes.count);
	add_counts(json, object, "heap_class_bytes", heap->class_bytes, heap->classes.count);
}

struct rcore_error *rcore_result_write(const struct rcore_result *result, FILE *out)
{
	struct rcore_json json = {.out = out};
	struct json_object *object = rcore_json_object(&json);
	rcore_json_add_text(&json, object, "schema", schemas[WRITTEN]);
	rcore_json_add_int(&json, object, "status", result->status);
	for (size_t i = 0; i < RCORE_COUNT(numbers); i++)
		rcore_json_add_count(&json, object, numbers[i].key,
				     *(const int *)at(result, &numbers[i]));
	for (size_t i = 0; i < RCORE_COUNT(texts); i++)
		rcore_json_add_text(&json, object, texts[i].key,
				    *(const char *const *)at(result, &texts[i]));
	for (size_t i = 0; i < RCORE_COUNT(lists); i++) {
		const struct rcore_result_texts *list = at(result, &lists[i]);
		if (list->count)
			add_texts(&json, object, lists[i].key, list);
	}
	add_heap(&json, object, &result->heap);
	rcore_json_put(&json, NULL, object);
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}

static bool take_hex(struct json_object *value, struct rcore_arena *arena, const char **ret)
{
	const char *hex = json_object_get_string(value);
	size_t length = strlen(hex) / 2;
	char *bytes = rcore_arena_alloc(arena, length + 1);
	*ret = bytes;
	for (size_t i = 0; bytes && i < length; i++) {
		const char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
		bytes[i] = (char)strtoul(pair, NULL, 16);
	}
	return bytes;
}

/* Prefers KEY_hex, which has the exact bytes of text that is not UTF-8. */
static bool take_text(struct json_object *object, const char *key, struct rcore_arena *arena,
		      const char **ret)
{
	char hex_key[64];
	*ret = NULL;
	snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
	struct json_object *value = rcore_json_member(object, hex_key, json_type_string);
	if (value)
		return take_hex(value, arena, ret);
	value = rcore_json_member(object, key, json_type_string);
	if (!value)
		return true;
	*ret = rcore_arena_strdup(arena, json_object_get_string(value));
	return *ret;
}

static int take_int(struct json_object *object, const char *key)
{
	struct json_object *value = rcore_json_member(object, key, json_type_int);
	return value ? json_object_get_int(value) : 0;
}

/* Replaces items that are not strings with empty strings. */
static bool take_texts(struct json_object *object, const char *key, struct rcore_arena *arena,
		       struct rcore_result_texts *ret)
{
	struct json_object *array = rcore_json_member(object, key, json_type_array);
	size_t count = array ? json_object_array_length(array) : 0;
	ret->items = rcore_arena_array(arena, count, sizeof(*ret->items));
	for (size_t i = 0; ret->items && i < count; i++) {
		struct json_object *item = json_object_array_get_idx(array, i);
		bool is_text = json_object_is_type(item, json_type_string);
		ret->items[i] =
			rcore_arena_strdup(arena, is_text ? json_object_get_string(item) : "");
		if (!ret->items[i])
			return false;
	}
	ret->count = ret->items ? count : 0;
	return ret->items;
}

static uint64_t *take_counts(struct json_object *object, const char *key, size_t count,
			     struct rcore_arena *arena)
{
	struct json_object *array = rcore_json_member(object, key, json_type_array);
	size_t length = array ? json_object_array_length(array) : 0;
	uint64_t *counts = rcore_arena_array(arena, count, sizeof(*counts));
	for (size_t i = 0; counts && i < count && i < length; i++)
		counts[i] = json_object_get_uint64(json_object_array_get_idx(array, i));
	return counts;
}

static bool take_heap(struct json_object *object, struct rcore_arena *arena,
		      struct rcore_result_heap *ret)
{
	if (!take_text(object, "heap_problem", arena, &ret->problem))
		return false;
	ret->is_known = rcore_json_member(object, "heap_objects", json_type_int);
	ret->objects = rcore_json_count(object, "heap_objects");
	ret->bytes = rcore_json_count(object, "heap_bytes");
	if (!take_texts(object, "heap_classes", arena, &ret->classes))
		return false;
	ret->class_objects =
		take_counts(object, "heap_class_objects", ret->classes.count, arena);
	ret->class_bytes = take_counts(object, "heap_class_bytes", ret->classes.count, arena);
	return ret->class_objects && ret->class_bytes;
}

static bool take_all(struct json_object *object, struct rcore_arena *arena,
		     struct rcore_result *result)
{
	for (size_t i = 0; i < RCORE_COUNT(texts); i++)
		if (!take_text(object, texts[i].key, arena, place(result, &texts[i])))
			return false;
	for (size_t i = 0; i < RCORE_COUNT(numbers); i++)
		*(int *)place(result, &numbers[i]) = take_int(object, numbers[i].key);
	for (size_t i = 0; i < RCORE_COUNT(lists); i++)
		if (!take_texts(object, lists[i].key, arena, place(result, &lists[i])))
			return false;
	result->status = take_int(object, "status");
	return take_heap(object, arena, &result->heap);
}

static bool is_ours(struct json_object *object)
{
	struct json_object *schema = rcore_json_member(object, "schema", json_type_string);
	for (size_t i = 0; schema && i < RCORE_COUNT(schemas); i++)
		if (!strcmp(json_object_get_string(schema), schemas[i]))
			return true;
	return false;
}

struct rcore_error *rcore_result_parse(const char *line, struct rcore_arena *arena,
				       struct rcore_result *ret)
{
	struct rcore_result result = {0};
	struct rcore_error *err = NULL;
	struct json_tokener *tokener = json_tokener_new();
	if (!tokener)
		return rcore_error_no_memory();
	struct json_object *object = json_tokener_parse_ex(tokener, line, -1);
	if (!object && *line && rcore_json_lacks_memory(tokener, line, strlen(line)))
		err = rcore_error_no_memory();
	else if (!json_object_is_type(object, json_type_object) || !is_ours(object))
		err = rcore_error_create(RCORE_ERROR_FORMAT,
					 "not a result of rcore triage (\"schema\": \"%s\")",
					 schemas[WRITTEN]);
	else if (!take_all(object, arena, &result))
		err = rcore_error_no_memory();
	else if (!result.core)
		err = rcore_error_create(RCORE_ERROR_FORMAT,
					 "a result without the name of a core");
	json_object_put(object);
	json_tokener_free(tokener);
	if (!err)
		*ret = result;
	return err;
}
