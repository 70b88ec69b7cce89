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

const struct rcore_frame *rcore_summary_place(const struct rcore_fiber *fiber)
{
	const struct rcore_frame *frame = rcore_application_frame(fiber);
	for (size_t i = 0; !frame && i < fiber->frame_count; i++)
		if (fiber->frames[i].path)
			frame = &fiber->frames[i];
	return frame;
}

static void write_place(const struct rcore_fiber *fiber, FILE *out)
{
	const struct rcore_frame *frame = rcore_summary_place(fiber);
	if (!frame)
		return;
	fputs(" in ", out);
	rcore_summary_frame(frame, true, out);
}

struct place {
	const struct rcore_frame *frame;
	size_t count;
};

static bool is_same_place(const struct rcore_frame *one, const struct rcore_frame *other)
{
	return one->line == other->line && rcore_same_text(one->label, other->label) &&
	       rcore_same_text(one->path, other->path);
}

/* Adds a place to those that are known; ignores it if there are too many. */
static size_t add_place(struct place *places, size_t known, size_t limit,
			const struct rcore_frame *frame)
{
	size_t at = 0;
	while (at < known && !is_same_place(places[at].frame, frame))
		at++;
	if (at == limit)
		return known;
	if (at == known)
		places[known++] = (struct place){frame, 0};
	places[at].count++;
	/* Keeps them in order. */
	for (; at && places[at - 1].count < places[at].count; at--) {
		struct place more = places[at];
		places[at] = places[at - 1];
		places[at - 1] = more;
	}
	return known;
}

void rcore_summary_places(const struct rcore_snapshot *snapshot, const int *fibers,
			  size_t count, FILE *out)
{
	enum { KNOWN = 16, SHOWN = 2 };
	struct place places[KNOWN];
	size_t known = 0, left = count;
	for (size_t i = 0; i < count; i++) {
		const struct rcore_frame *frame =
			rcore_summary_place(&snapshot->fibers[fibers[i]]);
		if (frame)
			known = add_place(places, known, KNOWN, frame);
	}
	for (size_t i = 0; i < known && i < SHOWN; i++) {
		fputs(i ? ", " : "; ", out);
		if (count == 1)
			fputs(rcore_fiber_text(snapshot, fibers[0]), out);
		else if (places[i].count == count)
			fputs("all", out);
		else
			fprintf(out, "%zu", places[i].count);
		fputs(i ? " in " : places[i].count > 1 ? " wait in " : " waits in ", out);
		rcore_summary_frame(places[i].frame, true, out);
		left -= places[i].count;
	}
	if (known && left)
		fprintf(out, ", %zu elsewhere", left);
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
