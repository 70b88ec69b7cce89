/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/grow.h"
#include "base/text.h"
#include "report/json/json.h"
#include "report/redaction.h"
#include "report/report.h"
#include "report/text/style.h"
#include "report/text/text.h"
#include "report/text/process/text_context.h"
#include "report/text/process/text_works.h"
#include "report/names.h"

static bool is_shown(const struct rcore_snapshot *snapshot, const struct rcore_pick *pick,
		     const struct rcore_report_options *options, size_t index)
{
	return rcore_pick_fiber(snapshot, pick, index) &&
	       ((options && options->all) || rcore_fiber_has_state(&snapshot->fibers[index]));
}

static int id_columns(const struct rcore_snapshot *snapshot)
{
	int columns = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		int width = snprintf(NULL, 0, "%s", snapshot->fibers[i].id);
		columns = width > columns ? width : columns;
	}
	return columns;
}

static void print_fiber(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
			int columns)
{
	enum { STATUS_COLUMNS = 10 };
	const char *status =
		fiber->is_current ? "current" : rcore_fiber_status_name(fiber->status);
	rcore_styled(pen, RCORE_STYLE_ID, "%-*s", columns, fiber->id);
	if (fiber->context.pair_count)
		fprintf(pen->out, "  %-*s", STATUS_COLUMNS, status);
	else
		fprintf(pen->out, "  %s", status);
	rcore_text_context(pen, "  ", &fiber->context);
	putc('\n', pen->out);
	rcore_text_works(pen, "    ", fiber);
	rcore_text_context_remarks(pen, "    ", &fiber->context);
}

static void print_without(const struct rcore_pen *pen, size_t count)
{
	char number[RCORE_COUNT_SIZE];
	if (count)
		rcore_styled(pen, RCORE_STYLE_QUIET,
			     "%s fiber%s without a context (--all shows each)\n",
			     rcore_count_text(count, number), rcore_plural(count));
}

static void print_stacks(struct rcore_text *text, int *fibers)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	size_t count = 0, without = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (rcore_pick_fiber(snapshot, &text->pick, i))
			fibers[count++] = (int)i;
	rcore_text_fibers(text, fibers, count);
	rcore_text_groups(text, false);
	rcore_text_groups(text, true);
	text->pick.only_contexts = false;
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		without += rcore_pick_fiber(snapshot, &text->pick, i);
	print_without(&text->pen, without - count);
}

static struct rcore_error *report_stacks(const struct rcore_snapshot *snapshot,
					 const struct rcore_report_options *options, FILE *out)
{
	struct rcore_report_options chosen = *options;
	struct rcore_text text;
	chosen.only_contexts = !options->all;
	struct rcore_error *err = rcore_text_init(&text, snapshot, &chosen, out);
	if (err)
		return err;
	int *fibers = rcore_calloc(snapshot->fiber_count, sizeof(*fibers));
	if (fibers)
		print_stacks(&text, fibers);
	rcore_text_redaction(&text.pen, &snapshot->redaction);
	err = !fibers      ? rcore_error_no_memory()
	      : text.error ? text.error
			   : rcore_pen_error(out);
	free(fibers);
	rcore_text_deinit(&text);
	return err;
}

struct rcore_error *rcore_report_state(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	struct rcore_pick pick;
	size_t without = 0;
	if (options && options->stacks)
		return report_stacks(snapshot, options, out);
	struct rcore_error *err = rcore_pick_init(snapshot, options, &pick);
	if (err)
		return err;
	int columns = id_columns(snapshot);
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		if (is_shown(snapshot, &pick, options, i))
			print_fiber(&pen, &snapshot->fibers[i], columns);
		else
			without += rcore_pick_fiber(snapshot, &pick, i);
	}
	print_without(&pen, without);
	rcore_text_redaction(&pen, &snapshot->redaction);
	return rcore_pen_error(out);
}

static void put_fiber(struct rcore_json *json, const struct rcore_snapshot *snapshot,
		      const struct rcore_fiber *fiber)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "id", fiber->id);
	if (fiber->thread >= 0)
		rcore_json_add_text(json, object, "thread",
				    snapshot->threads[fiber->thread].id);
	rcore_json_add_text(json, object, "status", rcore_fiber_status_name(fiber->status));
	rcore_json_add_flag(json, object, "current", fiber->is_current);
	rcore_json_add_hex(json, object, "object", fiber->object);
	if (rcore_context_has_any(&fiber->context))
		rcore_json_add(json, object, "context",
			       rcore_json_context(json, &fiber->context));
	rcore_json_add_works(json, object, &fiber->works);
	rcore_json_put(json, NULL, object);
}

struct rcore_error *rcore_report_state_json(const struct rcore_snapshot *snapshot,
					    const struct rcore_report_options *options,
					    FILE *out)
{
	struct rcore_pick pick;
	struct rcore_json json = {.out = out};
	struct rcore_error *err = rcore_pick_init(snapshot, options, &pick);
	if (err)
		return err;
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-state/1");
	rcore_json_origin(&json, snapshot);
	rcore_json_put(&json, "complete", json_object_new_boolean(!snapshot->incomplete));
	rcore_json_problems(&json, snapshot);
	rcore_json_redaction(&json, &snapshot->redaction);
	rcore_json_open(&json, "fibers", '[');
	for (size_t i = 0; i < snapshot->fiber_count && !ferror(out); i++)
		if (is_shown(snapshot, &pick, options, i))
			put_fiber(&json, snapshot, &snapshot->fibers[i]);
	rcore_json_close(&json, ']');
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
