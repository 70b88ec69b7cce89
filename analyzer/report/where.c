/* SPDX-License-Identifier: MIT */
#include "report/where.h"

#include "base/condition.h"
#include "base/text.h"

static bool variable_matches(const char *text, const struct rcore_variable *variable)
{
	const struct rcore_condition condition = rcore_condition_parse(text);
	return variable->name && rcore_condition_is_key(&condition, variable->name) &&
	       rcore_condition_is_met(&condition, variable->value.text);
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
		"no fiber has %s%s: %zu of %zu fiber%s %s a context or known work; "
		"`rcore state` lists them",
		condition, options->where_count > 1 ? " and meets the other conditions" : "",
		contexts, snapshot->fiber_count, rcore_plural(snapshot->fiber_count),
		contexts == 1 ? "has" : "have");
}
