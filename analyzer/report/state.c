/* SPDX-License-Identifier: MIT */
#include "report/json.h"
#include "report/redaction.h"
#include "report/report.h"
#include "report/style.h"
#include "report/text_context.h"
#include "report/words.h"

static bool is_shown(const struct rcore_snapshot *snapshot, const struct rcore_pick *pick,
		     const struct rcore_report_options *options, size_t index)
{
	const struct rcore_context *context = &snapshot->fibers[index].context;
	return rcore_pick_fiber(snapshot, pick, index) &&
	       ((options && options->all) || rcore_context_has_any(context));
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
	rcore_text_context_remarks(pen, "    ", &fiber->context);
}

struct rcore_error *rcore_report_state(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	char number[RCORE_COUNT_SIZE];
	struct rcore_pick pick;
	size_t without = 0;
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
	if (without)
		rcore_styled(&pen, RCORE_STYLE_QUIET,
			     "%s fiber%s without a context (--all shows each)\n",
			     rcore_count_words(without, number), without == 1 ? "" : "s");
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
	rcore_json_put(&json, "schema", rcore_json_string(&json, "rcore-state/1"));
	rcore_json_put(&json, "complete", json_object_new_boolean(!snapshot->incomplete));
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
