/* SPDX-License-Identifier: MIT */
#include "report/text/converted.h"

#include "base/text.h"
#include "report/text/style.h"
#include "report/names.h"

static const struct rcore_frame *place_of(const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < fiber->frame_count; i++)
		if (fiber->frames[i].label && fiber->frames[i].path)
			return &fiber->frames[i];
	return NULL;
}

static void print_place(FILE *out, const struct rcore_frame *frame)
{
	if (!frame)
		return;
	fputs("  ", out);
	rcore_escape_write(out, frame->label);
	fputs("  ", out);
	rcore_escape_write(out, frame->path);
	if (frame->line)
		fprintf(out, ":%d", frame->line);
}

static void print_row(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
		      const struct rcore_converted *row)
{
	if (row->tid)
		fprintf(pen->out, "  %-10d  ", row->tid);
	else
		fprintf(pen->out, "  %-10s  ", "-");
	rcore_styled(pen, RCORE_STYLE_ID, "%-9s", fiber->id);
	fprintf(pen->out, "  %-6s", row->is_added ? "parked" : "runs");
	if (row->tid)
		print_place(pen->out, place_of(fiber));
	else
		rcore_styled(pen, RCORE_STYLE_PROBLEM,
			     "  ! no thread: its saved registers cannot be read");
	putc('\n', pen->out);
}

struct rcore_error *rcore_report_converted(const struct rcore_snapshot *snapshot,
					   const char *path, const struct rcore_converted *rows,
					   size_t count,
					   const struct rcore_report_options *options,
					   FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	char number[RCORE_COUNT_SIZE];
	size_t added = 0;
	for (size_t i = 0; i < count; i++)
		added += rows[i].is_added && rows[i].tid;
	rcore_escape_write(out, path);
	fprintf(out, ": %s parked %s %s now\n\n", rcore_count_text(added, number),
		added == 1 ? "fiber" : "fibers", added == 1 ? "is a thread" : "are threads");
	fprintf(out, "  %-10s  %s\n", "LWP", "FIBER");
	for (size_t i = 0; i < count; i++)
		print_row(&pen, &snapshot->fibers[rows[i].fiber], &rows[i]);
	return rcore_pen_error(out);
}
