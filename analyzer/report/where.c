/* SPDX-License-Identifier: MIT */
#include "report/where.h"

#include <string.h>

#include "base/text.h"

static bool is_text(const char *text, const char *value)
{
	size_t length = strlen(value);
	if (!strcmp(text, value))
		return true;
	if (*text == ':')
		return !strcmp(text + 1, value);
	return *text == '"' && !strncmp(text + 1, value, length) &&
	       !strcmp(text + 1 + length, "\"");
}

static bool variable_matches(const char *condition, const struct rcore_variable *variable)
{
	const char *equals = strchr(condition, '=');
	size_t length = equals ? (size_t)(equals - condition) : strlen(condition);
	if (!variable->name || strlen(variable->name) != length ||
	    strncmp(variable->name, condition, length) != 0)
		return false;
	return !equals || (variable->value.text && is_text(variable->value.text, equals + 1));
}

static bool matches(const char *condition, const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < fiber->context.pair_count; i++)
		if (variable_matches(condition, &fiber->context.pairs[i].variable))
			return true;
	for (size_t i = 0; i < fiber->works.count; i++) {
		const struct rcore_variables *fields = &fiber->works.items[i].fields;
		for (size_t j = 0; j < fields->count; j++)
			if (variable_matches(condition, &fields->items[j]))
				return true;
	}
	return false;
}

bool rcore_where_matches(const struct rcore_report_options *options,
			 const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < options->where_count; i++)
		if (!matches(options->where[i], fiber))
			return false;
	return true;
}

struct rcore_error *rcore_where_check(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options)
{
	char condition[128];
	size_t contexts = 0;
	if (!options->where_count)
		return NULL;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		if (rcore_where_matches(options, &snapshot->fibers[i]))
			return NULL;
		contexts += rcore_fiber_has_state(&snapshot->fibers[i]);
	}
	rcore_escape(condition, sizeof(condition), options->where[0]);
	return rcore_error_create(
		RCORE_ERROR_USAGE,
		"no fiber has %s%s: %zu of %zu fibers have a context or known work; "
		"`rcore state` lists them",
		condition, options->where_count > 1 ? " and the rest" : "", contexts,
		snapshot->fiber_count);
}
