/* SPDX-License-Identifier: MIT */
#include "triage/summary_text.h"

#include "base/text.h"
#include "model/wait_text.h"
#include "triage/activity.h"
#include "triage/workers.h"

/* How many holders to follow from one lock to the next. */
enum { CHAIN = 8 };

void rcore_summary_who(const struct rcore_snapshot *snapshot, const int *fibers, size_t count,
		       const char *singular, const char *plural, FILE *out)
{
	bool are_threads = true;
	for (size_t i = 0; i < count; i++)
		are_threads = are_threads && snapshot->fibers[fibers[i]].is_current;
	if (count == 1)
		fprintf(out, "%s %s", rcore_fiber_text(snapshot, fibers[0]), singular);
	else
		fprintf(out, "%zu %s %s", count, are_threads ? "threads" : "fibers", plural);
}

void rcore_summary_frame(const struct rcore_frame *frame, bool with_line, FILE *out)
{
	rcore_escape_write(out, frame->label ? frame->label : "?");
	if (!frame->path)
		return;
	fputs(" (", out);
	rcore_escape_write(out, frame->path);
	if (frame->line && with_line)
		fprintf(out, ":%d", frame->line);
	putc(')', out);
}

static void write_activity(const struct rcore_fiber *fiber, FILE *out)
{
	const struct rcore_activity does = rcore_activity_of(fiber);
	if (!does.frame)
		return;
	if (does.what) {
		fprintf(out, " %s (", does.what);
		rcore_escape_write(out, does.frame->function);
		putc(')', out);
		return;
	}
	putc(' ', out);
	rcore_escape_write(out, does.frame->function);
	fputs(" of ", out);
	rcore_escape_write(out, does.frame->module);
	if (!does.frame->gem)
		return;
	fputs(", gem ", out);
	rcore_escape_write(out, does.frame->gem);
	putc(',', out);
}

static void write_state(const struct rcore_snapshot *snapshot, const struct rcore_fiber *fiber,
			FILE *out)
{
	const struct rcore_thread *thread = rcore_snapshot_thread(snapshot, fiber->thread);
	if (fiber->wait)
		rcore_wait_write(snapshot, fiber->wait, out);
	else if (!fiber->is_current)
		fputs("is parked", out);
	else if (thread && thread->gvl == RCORE_GVL_WAITING)
		fputs("is ready to run", out);
	else
		fputs("runs", out);
	if (!fiber->wait && fiber->is_current)
		write_activity(fiber, out);
}

/* The application's frame; if there is none, the innermost that has a file. */
static void write_place(const struct rcore_fiber *fiber, FILE *out)
{
	const struct rcore_frame *frame = rcore_application_frame(fiber);
	for (size_t i = 0; !frame && i < fiber->frame_count; i++)
		if (fiber->frames[i].path)
			frame = &fiber->frames[i];
	if (!frame)
		return;
	fputs(" in ", out);
	rcore_summary_frame(frame, true, out);
}

void rcore_summary_holder(const struct rcore_snapshot *snapshot, int index, FILE *out)
{
	rcore_summary_state(snapshot, index, ", which ", out);
}

void rcore_summary_state(const struct rcore_snapshot *snapshot, int index, const char *before,
			 FILE *out)
{
	int seen[CHAIN];
	for (int links = 0; links < CHAIN && index >= 0; links++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[index];
		for (int i = 0; i < links; i++)
			if (seen[i] == index)
				return;
		if (fiber->status == RCORE_FIBER_TERMINATED)
			return;
		seen[links] = index;
		fputs(links ? ", which " : before, out);
		bool is_lock = rcore_wait_is_for_lock(fiber->wait);
		write_state(snapshot, fiber, out);
		if (!is_lock)
			write_place(fiber, out);
		index = is_lock ? rcore_owner_fiber(snapshot, &fiber->wait->owner) : -1;
	}
}
