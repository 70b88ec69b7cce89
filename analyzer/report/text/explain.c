/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "base/text.h"
#include "report/json/json.h"
#include "report/redaction.h"
#include "report/report.h"
#include "report/text/process/fold.h"
#include "report/text/process/text_waits.h"
#include "report/text/text_triage.h"
#include "triage/origin.h"

static struct rcore_error *print_text(const struct rcore_pen *pen, const char *name,
				      const char *hash, const char *text)
{
	fprintf(pen->out, "%s %s, the hash of these lines:\n", name, hash);
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");
		char *copy = strndup(line, length);
		if (!copy)
			return rcore_error_no_memory();
		fputs("  ", pen->out);
		rcore_escape_write(pen->out, copy);
		putc('\n', pen->out);
		free(copy);
		line += length + (line[length] == '\n');
	}
	putc('\n', pen->out);
	return NULL;
}

/*
 * Returns in which signatures a frame counts: "both", "strict", "loose" or "-".
 */
static const char *form_of(const struct rcore_signature_frame *frame)
{
	if (frame->strict)
		return frame->loose ? "both" : "strict";
	return frame->loose ? "loose" : "-";
}

static void print_frame(const struct rcore_pen *pen, const struct rcore_signature_frame *frame)
{
	fprintf(pen->out, "  %-6s  %-16s  ", form_of(frame), rcore_origin_name(frame->origin));
	rcore_escape_write(pen->out, frame->name ? frame->name : "(no name)");
	if (frame->place) {
		fputs("  ", pen->out);
		rcore_escape_write(pen->out, frame->place);
	}
	rcore_styled(pen, RCORE_STYLE_QUIET, "  (%s)", frame->why);
	putc('\n', pen->out);
}

static bool same_frames(const void *frames, size_t a, size_t b)
{
	const struct rcore_signature_frame *one = frames, *other = one + b;
	one += a;
	return !strcmp(form_of(one), form_of(other)) && one->origin == other->origin &&
	       rcore_same_text(one->name, other->name) &&
	       rcore_same_text(one->place, other->place) &&
	       rcore_same_text(one->why, other->why);
}

static void print_frames(const struct rcore_pen *pen, const struct rcore_signature *signature,
			 bool all)
{
	size_t at = 0;
	struct rcore_fold fold;
	char number[RCORE_COUNT_SIZE], period[RCORE_COUNT_SIZE];
	for (size_t i = 0; all && i < signature->frame_count; i++)
		print_frame(pen, &signature->frames[i]);
	while (!all && rcore_fold_lines(signature->frames, signature->frame_count, same_frames,
					&at, &fold)) {
		for (size_t i = 0; i < fold.period; i++)
			print_frame(pen, &signature->frames[fold.first + i]);
		if (fold.rounds == 1)
			continue;
		rcore_count_text(fold.rounds - 1, number);
		rcore_count_text(fold.period, period);
		rcore_styled(
			pen, RCORE_STYLE_QUIET,
			"  ...     the same %s%sframe%s %s more times (--all shows each)\n",
			fold.period > 1 ? period : "", fold.period > 1 ? " " : "",
			rcore_plural(fold.period), number);
	}
}

struct rcore_error *rcore_report_explain(const struct rcore_snapshot *snapshot,
					 const struct rcore_report_options *options, FILE *out)
{
	const struct rcore_signature *signature = &snapshot->signature;
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	if (!signature->strict) {
		fputs("No signature: no stack of the crash could be decoded\n", out);
		return rcore_pen_error(out);
	}
	/* The frame to blame may only wait for a thread in a deadlock. */
	rcore_text_deadlocks(&pen, snapshot);
	rcore_text_blame(&pen, snapshot);
	struct rcore_error *err =
		print_text(&pen, "Loose signature", signature->loose, signature->loose_text);
	if (!err)
		err = print_text(&pen, "Strict signature", signature->strict,
				 signature->strict_text);
	if (err)
		return err;
	fputs("Frames, innermost first, and the signatures in which they count:\n", out);
	print_frames(&pen, signature, options && options->all);
	rcore_text_redaction(&pen, &snapshot->redaction);
	return rcore_pen_error(out);
}

struct rcore_error *rcore_report_explain_json(const struct rcore_snapshot *snapshot,
					      const struct rcore_report_options *options,
					      FILE *out)
{
	const struct rcore_signature *signature = &snapshot->signature;
	struct rcore_json json = {.out = out};
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-explain/1");
	rcore_json_redaction(&json, &snapshot->redaction);
	rcore_json_triage(&json, snapshot);
	struct json_object *texts = rcore_json_object(&json);
	rcore_json_add_text(&json, texts, "loose_text", signature->loose_text);
	rcore_json_add_text(&json, texts, "strict_text", signature->strict_text);
	rcore_json_put_members(&json, texts);
	rcore_json_signature(&json, snapshot);
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
