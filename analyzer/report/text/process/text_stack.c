/* SPDX-License-Identifier: MIT */
#include "report/text/process/text_stack.h"

#include "base/text.h"
#include "model/similar.h"
#include "report/text/process/fold.h"
#include "report/text/text_library.h"
#include "report/text/process/text_native.h"
#include "report/text/process/text_values.h"
#include "report/names.h"
#include "triage/activity.h"

enum {
	LABEL_COLUMNS = 44, /* a longer label pushes its path to the right */
	HEAD = 200,         /* of a stack that is deep even when it is folded */
	TAIL = 100,
	MARGIN = 100, /* not worth leaving out */
};

static const char *frame_label(const struct rcore_frame *frame)
{
	if (frame->label)
		return frame->label;
	switch (frame->kind) {
	case RCORE_FRAME_DUMMY:
		return "(pushed by the VM)";
	case RCORE_FRAME_IFUNC:
		return "(block in C)";
	case RCORE_FRAME_BROKEN:
		return frame->under_construction ? "(a frame)" : "(broken frame)";
	default:
		return "(no label)";
	}
}

static size_t label_columns(const struct rcore_rows *rows)
{
	size_t columns = 0;
	for (size_t i = 0; i < rows->count; i++) {
		const struct rcore_row *row = &rows->items[i];
		size_t width =
			row->kind == RCORE_ROW_RUBY ? rcore_escape_width(frame_label(
							      &rows->fiber->frames[row->index]))
			: row->kind == RCORE_ROW_NATIVE
				? rcore_text_native_width(&rows->fiber->native[row->index])
				: 0;
		if (width > columns && width <= LABEL_COLUMNS)
			columns = width;
	}
	return columns;
}

static void print_frame(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
			size_t index, size_t columns, bool with_hidden)
{
	const struct rcore_frame *frame = &fiber->frames[index];
	bool in_c = frame->kind == RCORE_FRAME_CFUNC || frame->kind == RCORE_FRAME_IFUNC;
	const char *label = frame_label(frame);
	size_t width = rcore_escape_width(label);

	rcore_styled(pen, RCORE_STYLE_QUIET, "%8zu  ", index);
	rcore_styled_text(pen, in_c ? RCORE_STYLE_QUIET : RCORE_STYLE_PLAIN, label);
	if (frame->path || in_c)
		fprintf(pen->out, "%*s", (int)(width < columns ? columns - width : 0) + 2, "");
	if (frame->path) {
		rcore_escape_write(pen->out, frame->path);
		if (frame->line)
			fprintf(pen->out, ":%d", frame->line);
	} else if (in_c) {
		rcore_styled(pen, RCORE_STYLE_QUIET, "[C]");
	}
	if (frame->under_construction)
		rcore_styled(pen, RCORE_STYLE_QUIET, "  (being called)");
	if (frame->pc_stale)
		rcore_styled(pen, RCORE_STYLE_QUIET, "  (in compiled code, line unknown)");
	if (frame->problem) {
		rcore_style(pen, RCORE_STYLE_PROBLEM);
		fputs("  ! ", pen->out);
		rcore_escape_write(pen->out, frame->problem);
		rcore_style(pen, RCORE_STYLE_PLAIN);
	}
	putc('\n', pen->out);
	rcore_text_frame_values(pen, frame->values, with_hidden);
}

static void print_count(const struct rcore_pen *pen, size_t count, const char *one,
			const char *many)
{
	char number[RCORE_COUNT_SIZE];
	rcore_styled(pen, RCORE_STYLE_QUIET, "%8s  (%s %s)", "",
		     rcore_count_text(count, number), count == 1 ? one : many);
	putc('\n', pen->out);
}

/*
 * Prints how many interpreter frames are folded, and names one of them that may
 * take long, such as a regexp match.
 */
static void print_interpreter(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
			      const struct rcore_row *row)
{
	const char *what = NULL;
	char number[RCORE_COUNT_SIZE];
	size_t at = row->index;
	while (at < row->index + row->count && at < fiber->native_count &&
	       !(what = rcore_activity_name(&fiber->native[at])))
		at++;
	if (!what) {
		print_count(pen, row->count, "interpreter frame", "interpreter frames");
		return;
	}
	rcore_styled(pen, RCORE_STYLE_QUIET, "%8s  (%s interpreter frame%s: ", "",
		     rcore_count_text(row->count, number), rcore_plural(row->count));
	fputs(what, pen->out);
	fputs(" in ", pen->out);
	rcore_styled_text(pen, RCORE_STYLE_PLAIN, fiber->native[at].function);
	rcore_styled(pen, RCORE_STYLE_QUIET, ")");
	putc('\n', pen->out);
}

static void print_row(const struct rcore_pen *pen, const struct rcore_rows *rows, size_t at,
		      size_t columns)
{
	const struct rcore_row *row = &rows->items[at];
	switch (row->kind) {
	case RCORE_ROW_RUBY:
		print_frame(pen, rows->fiber, row->index, columns, rows->with_hidden);
		break;
	case RCORE_ROW_NATIVE:
		rcore_text_native_frame(pen, &rows->fiber->native[row->index], columns);
		break;
	case RCORE_ROW_INTERPRETER:
		print_interpreter(pen, rows->fiber, row);
		break;
	case RCORE_ROW_START:
		print_count(pen, row->count, "frame that started it", "frames that started it");
		break;
	case RCORE_ROW_WAIT:
		print_count(pen, row->count, "native frame that waits",
			    "native frames that wait");
		break;
	case RCORE_ROW_LIBRARY:
		rcore_text_library(pen, rows->fiber, row);
		break;
	case RCORE_ROW_GAP:
		rcore_styled(pen, RCORE_STYLE_PROBLEM, "%8s  ! %s", "...",
			     rows->fiber->steps[row->index].reason);
		putc('\n', pen->out);
		break;
	}
}

/*
 * Finds the number of the last Ruby frame in a range of rows. Returns false if
 * it has none.
 */
static bool last_number(const struct rcore_rows *rows, size_t first, size_t end, size_t *ret)
{
	while (end-- > first) {
		if (rows->items[end].kind == RCORE_ROW_RUBY) {
			*ret = rows->items[end].index;
			return true;
		}
	}
	return false;
}

static void print_rounds(const struct rcore_pen *pen, const struct rcore_rows *rows,
			 const struct rcore_fold *item)
{
	char times[RCORE_COUNT_SIZE];
	size_t number;
	rcore_count_text(item->rounds - 1, times);
	rcore_style(pen, RCORE_STYLE_QUIET);
	if (item->period == 1)
		fprintf(pen->out, "%8s  the same frame %s more time%s", "...", times,
			rcore_plural(item->rounds - 1));
	else
		fprintf(pen->out, "%8s  the same %zu frames %s more time%s", "...",
			item->period, times, rcore_plural(item->rounds - 1));
	if (last_number(rows, item->first, item->first + item->period * item->rounds, &number))
		fprintf(pen->out, ", up to frame %zu", number);
	fputs(" (--all shows each)", pen->out);
	rcore_style(pen, RCORE_STYLE_PLAIN);
	putc('\n', pen->out);
}

static void print_item(const struct rcore_pen *pen, const struct rcore_rows *rows,
		       const struct rcore_fold *item, size_t columns)
{
	for (size_t i = item->first; i < item->first + item->period; i++)
		print_row(pen, rows, i, columns);
	if (item->rounds > 1)
		print_rounds(pen, rows, item);
}

static void print_folded(const struct rcore_pen *pen, const struct rcore_rows *rows,
			 size_t columns)
{
	struct rcore_fold item;
	size_t items = 0, left_out = 0, number = 0;
	for (size_t at = 0; rcore_fold_next(rows, &at, &item);)
		items++;
	bool cut = items > HEAD + TAIL + MARGIN;
	for (size_t at = 0; rcore_fold_next(rows, &at, &item); number++) {
		if (!cut || number < HEAD || number >= items - TAIL) {
			if (left_out) {
				char count[RCORE_COUNT_SIZE];
				rcore_styled(pen, RCORE_STYLE_QUIET,
					     "%8s  %s frames left out (--all shows them)",
					     "...", rcore_count_text(left_out, count));
				putc('\n', pen->out);
				left_out = 0;
			}
			print_item(pen, rows, &item, columns);
		} else {
			left_out += item.period * item.rounds;
		}
	}
}

static void print_rows(const struct rcore_pen *pen, const struct rcore_rows *rows, bool all)
{
	size_t columns = label_columns(rows);
	if (!all) {
		print_folded(pen, rows, columns);
		return;
	}
	for (size_t i = 0; i < rows->count; i++)
		print_row(pen, rows, i, columns);
}

struct rcore_error *rcore_text_native_stack(const struct rcore_pen *pen, bool all,
					    const struct rcore_other_thread *thread)
{
	struct rcore_rows rows;
	const struct rcore_fiber stack = {.native = thread->native,
					  .native_count = thread->native_count};
	struct rcore_error *err = rcore_rows_init_native(&rows, &stack);
	if (err)
		return err;
	print_rows(pen, &rows, all);
	rcore_rows_deinit(&rows);
	return NULL;
}

struct rcore_error *rcore_text_stack(const struct rcore_pen *pen,
				     const struct rcore_report_options *options,
				     const struct rcore_fiber *fiber, bool fold_libraries)
{
	struct rcore_rows rows;
	struct rcore_error *err = rcore_rows_init(&rows, fiber, options->native, options->all);
	if (err)
		return err;
	if (fold_libraries)
		rcore_rows_fold_libraries(&rows);
	rows.with_hidden = options->all || options->verbose;
	print_rows(pen, &rows, options->all);
	rcore_rows_deinit(&rows);
	if (fiber->frames_truncated) {
		rcore_styled(pen, RCORE_STYLE_PROBLEM,
			     "%8s  ! more frames than rcore reads; the outermost are missing",
			     "...");
		putc('\n', pen->out);
	}
	if (fiber->native_problem && options->native != RCORE_NATIVE_NONE) {
		rcore_styled(pen, RCORE_STYLE_PROBLEM, "%8s  ! native stack: %s", "...",
			     fiber->native_problem);
		putc('\n', pen->out);
	}
	return NULL;
}

void rcore_text_frame(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
		      size_t index)
{
	print_frame(pen, fiber, index, 0, false);
}

const struct rcore_frame *rcore_text_place(const struct rcore_fiber *fiber)
{
	size_t place = rcore_stack_place(fiber);
	return place < fiber->frame_count ? &fiber->frames[place] : NULL;
}
