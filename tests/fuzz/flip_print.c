/* SPDX-License-Identifier: MIT */
#include "flip_print.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "flip_compare.h"
#include "flip_guard.h"

static void add(struct flip_values *values, uint64_t value)
{
	for (size_t i = 0; i < values->count; i++)
		if (values->items[i] == value)
			return;
	uint64_t *added = rcore_push(values);
	if (!added)
		abort();
	*added = value;
}

void flip_values_init(struct flip_values *values, const struct rcore_snapshot *snapshot)
{
	*values = (struct flip_values){0};
	for (size_t i = 0; i < snapshot->thread_count; i++)
		add(values, snapshot->threads[i].object);
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		add(values, fiber->object);
		for (size_t j = 0; j < fiber->frame_count; j++)
			add(values, fiber->frames[j].self);
	}
}

void flip_values_deinit(struct flip_values *values)
{
	free(values->items);
}

static const char *report(const struct rcore_print *print, bool json)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		abort();
	struct rcore_error *err = json ? rcore_report_print_json(print, out)
				       : rcore_report_print(print, NULL, out);
	fclose(out);
	const char *fault = err    ? "a report of values failed"
			    : json ? flip_check_json(text)
				   : flip_check_text(text);
	rcore_error_free(err);
	free(text);
	return fault;
}

const char *flip_print(const struct flip_values *values, struct rcore_session *session)
{
	const struct rcore_inspect_options options = {.depth = 8, .max_items = 1000};
	struct rcore_print *print;
	struct rcore_error *err =
		rcore_print(session, values->items, values->count, &options, &print);
	if (err) {
		rcore_error_free(err);
		return "values could not be printed at all";
	}
	const char *fault = NULL;
	for (size_t i = 0; i < print->count; i++)
		if (!print->items[i].value.text)
			fault = "a value has no text";
	if (!fault)
		fault = report(print, false);
	if (!fault)
		fault = report(print, true);
	rcore_print_free(print);
	return fault;
}
