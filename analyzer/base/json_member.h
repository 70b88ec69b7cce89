/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_JSON_MEMBER_H
#define RCORE_BASE_JSON_MEMBER_H

#include <json-c/json.h>

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

#endif
