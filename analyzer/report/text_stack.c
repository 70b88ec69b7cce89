/* SPDX-License-Identifier: MIT */
#include "report/text_stack.h"

#include <string.h>

#include "base/text.h"
#include "report/fold.h"
#include "report/words.h"

enum {
	LABEL_COLUMNS = 44, /* a longer label pushes its path to the right */
	HEAD = 200,         /* of a stack that is deep even when folded */
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
		return "(broken frame)";
	default:
		return "(no label)";
	}
}

static size_t label_columns(const struct rcore_fiber *fiber)
{
	size_t columns = 0;
	for (size_t i = 0; i < fiber->frame_count; i++) {
		size_t width = rcore_escape_width(frame_label(&fiber->frames[i]));
		if (width > columns && width <= LABEL_COLUMNS)
			columns = width;
	}
	return columns;
}

static void print_frame(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
			size_t index, size_t columns)
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
	if (frame->problem) {
		rcore_style(pen, RCORE_STYLE_PROBLEM);
		fputs("  ! ", pen->out);
		rcore_escape_write(pen->out, frame->problem);
		rcore_style(pen, RCORE_STYLE_PLAIN);
	}
	putc('\n', pen->out);
}

static void print_rounds(const struct rcore_pen *pen, const struct rcore_fold *item)
{
	char times[RCORE_COUNT_SIZE];
	rcore_count_words(item->rounds - 1, times);
	rcore_style(pen, RCORE_STYLE_QUIET);
	if (item->period == 1)
		fprintf(pen->out, "%8s  the same frame %s more times", "...", times);
	else
		fprintf(pen->out, "%8s  the same %zu frames %s more times", "...", item->period,
			times);
	fprintf(pen->out, ", up to frame %zu (--all shows each)",
		item->first + item->period * item->rounds - 1);
	rcore_style(pen, RCORE_STYLE_PLAIN);
	putc('\n', pen->out);
}

static void print_item(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
		       const struct rcore_fold *item, size_t columns)
{
	for (size_t i = item->first; i < item->first + item->period; i++)
		if (fiber->frames[i].kind != RCORE_FRAME_DUMMY || fiber->frames[i].problem)
			print_frame(pen, fiber, i, columns);
	if (item->rounds > 1)
		print_rounds(pen, item);
}

static void print_folded(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
			 size_t columns)
{
	struct rcore_fold item;
	size_t items = 0, left_out = 0, number = 0;
	for (size_t at = 0; rcore_fold_next(fiber, &at, &item);)
		items++;
	bool cut = items > HEAD + TAIL + MARGIN;
	for (size_t at = 0; rcore_fold_next(fiber, &at, &item); number++) {
		if (!cut || number < HEAD || number >= items - TAIL) {
			if (left_out) {
				char count[RCORE_COUNT_SIZE];
				rcore_styled(pen, RCORE_STYLE_QUIET,
					     "%8s  %s frames left out (--all shows them)",
					     "...", rcore_count_words(left_out, count));
				putc('\n', pen->out);
				left_out = 0;
			}
			print_item(pen, fiber, &item, columns);
		} else {
			left_out += item.period * item.rounds;
		}
	}
}

void rcore_text_stack(const struct rcore_pen *pen, const struct rcore_fiber *fiber, bool all)
{
	size_t columns = label_columns(fiber);
	if (!all)
		print_folded(pen, fiber, columns);
	else
		for (size_t i = 0; i < fiber->frame_count; i++)
			print_frame(pen, fiber, i, columns);
	if (fiber->frames_truncated) {
		rcore_styled(pen, RCORE_STYLE_PROBLEM,
			     "%8s  ! more frames than rcore reads; the outermost are missing",
			     "...");
		putc('\n', pen->out);
	}
}

const struct rcore_frame *rcore_text_place(const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < fiber->frame_count; i++) {
		const struct rcore_frame *frame = &fiber->frames[i];
		if (frame->path && strncmp(frame->path, "<internal:", 10) != 0)
			return frame;
	}
	return NULL;
}
