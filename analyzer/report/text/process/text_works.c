/* SPDX-License-Identifier: MIT */
#include "report/text/process/text_works.h"

#include "base/text.h"
#include "report/text/process/text_context.h"

static void write_work(const struct rcore_pen *pen, const struct rcore_work *work)
{
	rcore_escape_write(pen->out, work->kind);
	for (size_t i = 0; i < work->fields.count; i++) {
		const struct rcore_variable *field = &work->fields.items[i];
		putc(' ', pen->out);
		rcore_text_pair(pen, field->name ? field->name : "?", field->value.text);
	}
}

static void write_origin(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
			 const struct rcore_work *work)
{
	const struct rcore_frame *frame = rcore_fiber_frame(fiber, work->frame);
	rcore_style(pen, RCORE_STYLE_QUIET);
	fputs("  (", pen->out);
	rcore_escape_write(pen->out, work->recognizer);
	if (frame && frame->label) {
		fputs(", ", pen->out);
		rcore_escape_write(pen->out, frame->label);
	}
	putc(')', pen->out);
	rcore_style(pen, RCORE_STYLE_PLAIN);
}

void rcore_text_works(const struct rcore_pen *pen, const char *indent,
		      const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < fiber->works.count; i++) {
		fputs(indent, pen->out);
		write_work(pen, &fiber->works.items[i]);
		write_origin(pen, fiber, &fiber->works.items[i]);
		putc('\n', pen->out);
	}
}

void rcore_text_works_inline(const struct rcore_pen *pen, const char *before,
			     const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < fiber->works.count; i++) {
		fputs(i ? ", " : before, pen->out);
		write_work(pen, &fiber->works.items[i]);
	}
}
