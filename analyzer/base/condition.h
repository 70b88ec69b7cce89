/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_CONDITION_H
#define RCORE_BASE_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

/* What --where names: KEY=VALUE, or KEY for any value. */
struct rcore_condition {
	const char *key; /* into the text; `length` bytes */
	size_t length;
	const char *value; /* NULL: any */
};

struct rcore_condition rcore_condition_parse(const char *text);

/* Whether `name` is the key. */
bool rcore_condition_is_key(const struct rcore_condition *condition, const char *name);

/*
 * Whether the inspect of a value, which may be NULL, is the value that the
 * condition wants. The quotes of a String and the colon of a Symbol are
 * optional.
 */
bool rcore_condition_is_met(const struct rcore_condition *condition, const char *text);

#endif
