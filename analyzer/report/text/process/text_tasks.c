/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "report/text/text.h"
#include "report/names.h"

enum { SHOWN = 50, INDENT_LIMIT = 20 };

static bool is_leaf(const struct rcore_snapshot *snapshot, size_t index)
{
	return index + 1 == snapshot->task_count ||
	       snapshot->tasks[index + 1].depth <= snapshot->tasks[index].depth;
}

/*
 * Returns how many tasks from this one on differ only in their fibers: siblings
 * that have no children.
 */
static size_t count_alike(const struct rcore_text *text, size_t first)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	const struct rcore_task *task = &snapshot->tasks[first];
	size_t end = first + 1;
	if (text->options.all || task->problem || task->fiber < 0 || !is_leaf(snapshot, first))
		return 1;
	for (; end < snapshot->task_count; end++) {
		const struct rcore_task *other = &snapshot->tasks[end];
		if (other->depth != task->depth || other->problem || other->fiber < 0 ||
		    other->is_transient != task->is_transient || !is_leaf(snapshot, end) ||
		    !rcore_same_text(other->status, task->status) ||
		    !rcore_same_text(other->class_name, task->class_name) ||
		    !rcore_same_text(other->annotation, task->annotation))
			break;
	}
	return end - first;
}

static void print_fibers(const struct rcore_text *text, const struct rcore_task *tasks,
			 size_t count)
{
	enum { IDS = 5 };
	const struct rcore_snapshot *snapshot = text->snapshot;
	char number[RCORE_COUNT_SIZE];
	FILE *out = text->pen.out;
	for (size_t i = 0; i < count && (count == 1 || i < IDS); i++)
		if (rcore_index_valid(tasks[i].fiber, snapshot->fiber_count))
			rcore_styled(&text->pen, RCORE_STYLE_ID, "%s%s",
				     snapshot->fibers[tasks[i].fiber].id,
				     i + 1 < count && i + 1 < IDS ? " " : "");
	if (count > IDS)
		fprintf(out, " and %s more", rcore_count_text(count - IDS, number));
	if (rcore_index_valid(tasks->fiber, snapshot->fiber_count))
		fputs("  ", out);
}

/* Prints `count` tasks that differ only in their fibers. */
static void print_task(const struct rcore_text *text, const struct rcore_task *task,
		       size_t count)
{
	int indent = task->depth < INDENT_LIMIT ? task->depth : INDENT_LIMIT;
	FILE *out = text->pen.out;
	fprintf(out, "  %*s", indent * 2, "");
	if (task->status) {
		rcore_escape_write(out, task->status);
		fputs("  ", out);
	}
	print_fibers(text, task, count);
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
	size_t at = 0;
	if (!snapshot->task_count || text->pick.thread >= 0 || text->pick.fiber >= 0)
		return;
	fputs("\nAsync tasks\n", text->pen.out);
	for (size_t lines = 0; at < snapshot->task_count; lines++) {
		size_t count = count_alike(text, at);
		if (!text->options.all && lines >= SHOWN && at + count < snapshot->task_count)
			break;
		print_task(text, &snapshot->tasks[at], count);
		at += count;
	}
	if (at < snapshot->task_count) {
		rcore_styled(&text->pen, RCORE_STYLE_QUIET,
			     "  ... and %s more (--all shows each)",
			     rcore_count_text(snapshot->task_count - at, number));
		putc('\n', text->pen.out);
	}
}
