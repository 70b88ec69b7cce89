/* SPDX-License-Identifier: MIT */
#include "report/text/text.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/text.h"
#include "report/redaction.h"
#include "report/text/process/text_exceptions.h"
#include "report/text/process/text_stack.h"
#include "report/names.h"

static struct rcore_error *count_visible(struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	text->visible = rcore_calloc(snapshot->group_count, sizeof(*text->visible));
	text->visible_threads =
		rcore_calloc(snapshot->thread_group_count, sizeof(*text->visible_threads));
	if (!text->visible || !text->visible_threads)
		return rcore_error_no_memory();
	for (size_t i = 0; i < snapshot->group_count; i++)
		for (size_t j = 0; j < snapshot->groups[i].count; j++)
			text->visible[i] += rcore_pick_fiber(
				snapshot, &text->pick, (size_t)snapshot->groups[i].fibers[j]);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (rcore_index_valid(snapshot->threads[i].group, snapshot->thread_group_count))
			text->visible_threads[snapshot->threads[i].group] +=
				rcore_pick_thread(snapshot, &text->pick, i);
	return NULL;
}

static struct rcore_error *list_orphans(struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	text->orphans = rcore_calloc(snapshot->fiber_count, sizeof(*text->orphans));
	if (!text->orphans)
		return rcore_error_no_memory();
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (snapshot->fibers[i].thread < 0 &&
		    rcore_pick_fiber(snapshot, &text->pick, i))
			text->orphans[text->orphan_count++] = (int)i;
	return NULL;
}

struct rcore_error *rcore_text_init(struct rcore_text *text,
				    const struct rcore_snapshot *snapshot,
				    const struct rcore_report_options *options, FILE *out)
{
	*text = (struct rcore_text){.snapshot = snapshot};
	if (options)
		text->options = *options;
	text->pen = (struct rcore_pen){.out = out, .color = text->options.color};
	struct rcore_error *err = rcore_pick_any(snapshot, options, &text->pick);
	if (!err)
		err = count_visible(text);
	if (!err)
		err = list_orphans(text);
	if (err)
		rcore_text_deinit(text);
	else
		rcore_text_measure(text);
	return err;
}

void rcore_text_deinit(struct rcore_text *text)
{
	free(text->visible);
	free(text->visible_threads);
	free(text->orphans);
	text->visible = NULL;
	text->visible_threads = NULL;
	text->orphans = NULL;
}

struct rcore_error *rcore_report_text(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options, FILE *out)
{
	struct rcore_text text;
	struct rcore_error *err = rcore_text_init(&text, snapshot, options, out);
	if (err)
		return err;
	if (!text.options.no_stacks)
		rcore_text_header(&text);
	rcore_text_threads(&text);
	rcore_text_tasks(&text);
	rcore_text_problems(&text);
	if (text.options.no_stacks)
		rcore_text_redaction(&text.pen, &snapshot->redaction);
	err = text.error ? text.error : rcore_pen_error(out);
	rcore_text_deinit(&text);
	return err;
}

static struct rcore_error *print_one(struct rcore_text *text, int fiber, long frame)
{
	const struct rcore_fiber *picked = &text->snapshot->fibers[fiber];
	if (frame < 0) {
		struct rcore_error *err = count_visible(text);
		if (!err)
			rcore_text_fibers(text, &fiber, 1);
		free(text->visible);
		free(text->visible_threads);
		return err ? err : text->error;
	}
	if ((size_t)frame >= picked->frame_count)
		return rcore_error_create(
			RCORE_ERROR_USAGE, "no frame %ld in %s: it has %zu Ruby frame%s", frame,
			picked->id, picked->frame_count, rcore_plural(picked->frame_count));
	rcore_text_frame(&text->pen, picked, (size_t)frame);
	return NULL;
}

/* Also prints how to see a Ruby thread, unless the user named this thread. */
static struct rcore_error *print_other(struct rcore_text *text,
				       const struct rcore_other_thread *other)
{
	rcore_text_other(text, other);
	if (!text->options.thread && text->snapshot->thread_count)
		rcore_styled(&text->pen, RCORE_STYLE_QUIET,
			     "--thread %s shows the stack of a Ruby thread\n",
			     text->snapshot->threads[0].id);
	return text->error;
}

struct rcore_error *rcore_report_stack(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, long frame,
				       FILE *out)
{
	struct rcore_text text = {.snapshot = snapshot};
	if (options)
		text.options = *options;
	text.pen = (struct rcore_pen){.out = out, .color = text.options.color};
	int fiber = -1;
	const struct rcore_other_thread *other = NULL;
	struct rcore_error *err =
		frame < 0 ? rcore_pick_other(snapshot, options, &other) : NULL;
	if (!err && !other)
		err = rcore_pick_one_fiber(snapshot, options, &fiber);
	if (err)
		return err;
	text.pick = (struct rcore_pick){.thread = -1, .fiber = fiber};
	err = other ? print_other(&text, other) : print_one(&text, fiber, frame);
	rcore_text_redaction(&text.pen, &snapshot->redaction);
	return err ? err : rcore_pen_error(out);
}

struct rcore_error *rcore_report_exception(const struct rcore_snapshot *snapshot,
					   const struct rcore_report_options *options,
					   FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	int index = -1;
	struct rcore_error *err = rcore_pick_one_fiber(snapshot, options, &index);
	if (err)
		return err;
	const struct rcore_fiber *fiber = &snapshot->fibers[index];
	rcore_styled(&pen, RCORE_STYLE_ID, "%s", fiber->id);
	fputs(fiber->exception_count ? "\n" : "  handles no exception\n", out);
	rcore_text_exceptions(&pen, fiber, options && options->all);
	rcore_text_redaction(&pen, &snapshot->redaction);
	return rcore_pen_error(out);
}
