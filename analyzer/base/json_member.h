/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_JSON_MEMBER_H
#define RCORE_BASE_JSON_MEMBER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Returns a member of that type, which `object` owns; NULL: there is none. */
static inline struct json_object *rcore_json_member(struct json_object *object, const char *key,
						    enum json_type type)
{
	struct json_object *value;
	return json_object_object_get_ex(object, key, &value) &&
			       json_object_is_type(value, type)
		       ? value
		       : NULL;
}

/* Returns the number, or 0 if there is none or it is negative. */
static inline uint64_t rcore_json_count(struct json_object *object, const char *key)
{
	struct json_object *value = rcore_json_member(object, key, json_type_int);
	return value ? json_object_get_uint64(value) : 0;
}

/*
 * Returns whether json_tokener_parse_ex() returned NULL because it had no
 * memory. Up to json-c 0.16 it then reports success, as it does for the value
 * null.
 */
static inline bool rcore_json_lacks_memory(struct json_tokener *tokener, const char *text,
					   size_t size)
{
	enum json_tokener_error error = json_tokener_get_error(tokener);
#if JSON_C_VERSION_NUM >= (17 << 8)
	if (error == json_tokener_error_memory)
		return true;
#endif
	size_t start = 0;
	while (start < size && strchr(" \t\r\n", text[start]))
		start++;
	return error == json_tokener_success &&
	       (size - start < 4 || strncasecmp(text + start, "null", 4) != 0);
}

#endif
