/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "report/text/text.h"
#include "report/names.h"

enum { SHOWN = 50, INDENT_LIMIT = 20 };

static void print_task(const struct rcore_text *text, const struct rcore_task *task)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	int indent = task->depth < INDENT_LIMIT ? task->depth : INDENT_LIMIT;
	FILE *out = text->pen.out;
	fprintf(out, "  %*s", indent * 2, "");
	if (task->status) {
		rcore_escape_write(out, task->status);
		fputs("  ", out);
	}
	if (rcore_index_valid(task->fiber, snapshot->fiber_count))
		rcore_styled(&text->pen, RCORE_STYLE_ID, "%s  ",
			     snapshot->fibers[task->fiber].id);
	if (!task->status || !task->annotation)
		rcore_escape_write(out,
				   task->class_name ? task->class_name : "(class unknown)");
	if (task->annotation) {
		if (!task->status)
			fputs("  ", out);
		rcore_escape_write(out, task->annotation);
	}
	if (task->is_transient)
		rcore_styled(&text->pen, RCORE_STYLE_QUIET, "  (transient)");
	putc('\n', out);
	if (task->problem)
		rcore_text_problem(text, task->problem);
}

void rcore_text_tasks(const struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	char number[RCORE_COUNT_SIZE];
	size_t shown = snapshot->task_count;
	if (!shown || text->pick.thread >= 0 || text->pick.fiber >= 0)
		return;
	if (!text->options.all && shown > SHOWN + 1)
		shown = SHOWN;
	fputs("\nAsync tasks\n", text->pen.out);
	for (size_t i = 0; i < shown; i++)
		print_task(text, &snapshot->tasks[i]);
	if (shown < snapshot->task_count) {
		rcore_styled(&text->pen, RCORE_STYLE_QUIET,
			     "  ... and %s more (--all shows each)",
			     rcore_count_text(snapshot->task_count - shown, number));
		putc('\n', text->pen.out);
	}
}
