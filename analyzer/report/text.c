/* SPDX-License-Identifier: MIT */
#include "report/text.h"

#include <stdlib.h>

static struct rcore_error *count_visible(struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	text->visible = calloc(snapshot->group_count + 1, sizeof(*text->visible));
	if (!text->visible)
		return rcore_error_no_memory();
	for (size_t i = 0; i < snapshot->group_count; i++)
		for (size_t j = 0; j < snapshot->groups[i].count; j++)
			text->visible[i] += rcore_pick_fiber(
				snapshot, &text->pick, (size_t)snapshot->groups[i].fibers[j]);
	return NULL;
}

static struct rcore_error *list_orphans(struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	text->orphans = calloc(snapshot->fiber_count + 1, sizeof(*text->orphans));
	if (!text->orphans)
		return rcore_error_no_memory();
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (snapshot->fibers[i].thread < 0 &&
		    rcore_pick_fiber(snapshot, &text->pick, i))
			text->orphans[text->orphan_count++] = (int)i;
	return NULL;
}

struct rcore_error *rcore_report_text(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options, FILE *out)
{
	struct rcore_text text = {.snapshot = snapshot};
	if (options)
		text.options = *options;
	text.pen = (struct rcore_pen){.out = out, .color = text.options.color};
	struct rcore_error *err = rcore_pick_init(snapshot, options, &text.pick);
	if (!err)
		err = count_visible(&text);
	if (!err)
		err = list_orphans(&text);
	if (!err) {
		rcore_text_header(&text);
		rcore_text_threads(&text);
		rcore_text_problems(&text);
		err = text.error ? text.error : rcore_pen_error(out);
	}
	free(text.visible);
	free(text.orphans);
	return err;
}
