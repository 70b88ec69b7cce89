/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_CONDITION_H
#define RCORE_BASE_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

/* A condition of --where: KEY=VALUE, or KEY for any value. */
struct rcore_condition {
	const char *key; /* into the text; `length` bytes */
	size_t length;
	const char *value; /* NULL: any */
};

struct rcore_condition rcore_condition_parse(const char *text);

/* Whether `name` is the key. */
bool rcore_condition_is_key(const struct rcore_condition *condition, const char *name);

/*
 * Whether `text` is the value that the condition asks for. `text` is what
 * inspect prints of a value, or NULL. The quotes of a String and the colon of a
 * Symbol are optional in the condition.
 */
bool rcore_condition_is_met(const struct rcore_condition *condition, const char *text);

#endif
