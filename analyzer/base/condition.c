/* SPDX-License-Identifier: MIT */
#include "base/condition.h"

#include <string.h>

struct rcore_condition rcore_condition_parse(const char *text)
{
	const char *equals = strchr(text, '=');
	return (struct rcore_condition){
		.key = text,
		.length = equals ? (size_t)(equals - text) : strlen(text),
		.value = equals ? equals + 1 : NULL,
	};
}

bool rcore_condition_is_key(const struct rcore_condition *condition, const char *name)
{
	return strlen(name) == condition->length &&
	       memcmp(name, condition->key, condition->length) == 0;
}

bool rcore_condition_is_met(const struct rcore_condition *condition, const char *text)
{
	const char *value = condition->value;
	if (!value)
		return true;
	if (!text)
		return false;
	size_t length = strlen(value);
	if (!strcmp(text, value))
		return true;
	if (*text == ':')
		return !strcmp(text + 1, value);
	return *text == '"' && !strncmp(text + 1, value, length) &&
	       !strcmp(text + 1 + length, "\"");
}
