/* SPDX-License-Identifier: MIT */
#include "triage/summary_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "model/similar.h"
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
		rcore_wait_write_alone(snapshot, fiber->wait, out);
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
	size_t place = rcore_stack_place(fiber);
	return frame || place == fiber->frame_count ? frame : &fiber->frames[place];
}

/* Writes it after `before`. Returns false if it is unknown. */
static bool write_place(const struct rcore_fiber *fiber, const char *before, FILE *out)
{
	const struct rcore_frame *frame = rcore_summary_place(fiber);
	if (!frame)
		return false;
	fputs(before, out);
	rcore_summary_frame(frame, true, out);
	return true;
}

struct place {
	const struct rcore_frame *frame; /* NULL: unknown */
	size_t count, first;             /* index of the first fiber */
};

static int compare_text(const char *one, const char *other)
{
	return strcmp(one ? one : "", other ? other : "");
}

static int compare_frames(const struct rcore_frame *one, const struct rcore_frame *other)
{
	if (!one || !other)
		return !one - !other;
	int order = compare_text(one->path, other->path);
	if (!order)
		order = (one->line > other->line) - (one->line < other->line);
	return order ? order : compare_text(one->label, other->label);
}

static int by_frame(const void *left, const void *right)
{
	const struct place *one = left, *other = right;
	int order = compare_frames(one->frame, other->frame);
	return order ? order : (one->first > other->first) - (one->first < other->first);
}

/* Unknown places come last. */
static int by_count(const void *left, const void *right)
{
	const struct place *one = left, *other = right;
	if (!one->frame != !other->frame)
		return !one->frame - !other->frame;
	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return (one->first > other->first) - (one->first < other->first);
}

/* Adds up equal places. Returns how many differ, unknown ones as one. */
static size_t add_up(struct place *places, size_t count)
{
	size_t known = 0;
	qsort(places, count, sizeof(*places), by_frame);
	for (size_t i = 0; i < count; i++) {
		if (known && !compare_frames(places[known - 1].frame, places[i].frame))
			places[known - 1].count++;
		else
			places[known++] = places[i];
	}
	qsort(places, known, sizeof(*places), by_count);
	return known;
}

/* Writes "3", or "all 3" or "both" if these are all. */
static void put_count(size_t part, size_t all, FILE *out)
{
	if (part == all && all == 2)
		fputs("both", out);
	else
		fprintf(out, "%s%zu", part == all ? "all " : "", part);
}

void rcore_summary_places(const struct rcore_snapshot *snapshot, const int *fibers,
			  size_t count, FILE *out)
{
	enum { SHOWN = 2 };
	struct place *places = rcore_calloc(count, sizeof(*places));
	size_t left = count, unknown = 0;
	for (size_t i = 0; places && i < count; i++)
		places[i] =
			(struct place){rcore_summary_place(&snapshot->fibers[fibers[i]]), 1, i};
	size_t known = places ? add_up(places, count) : 0;
	if (known && !places[known - 1].frame)
		unknown = places[--known].count;
	for (size_t i = 0; i < known && i < SHOWN; i++) {
		fputs(i ? ", " : "; ", out);
		if (count == 1)
			fputs(rcore_fiber_text(snapshot, fibers[0]), out);
		else
			put_count(places[i].count, count, out);
		fputs(i ? " in " : places[i].count > 1 ? " wait in " : " waits in ", out);
		rcore_summary_frame(places[i].frame, true, out);
		left -= places[i].count;
	}
	if (known && left > unknown)
		fprintf(out, ", %zu elsewhere", left - unknown);
	if (known && unknown)
		fprintf(out, ", %zu unknown", unknown);
	free(places);
}

void rcore_summary_holder(const struct rcore_snapshot *snapshot, int index, FILE *out)
{
	rcore_summary_state(snapshot, index, ", which ", out);
}

void rcore_summary_current(const struct rcore_snapshot *snapshot, const struct rcore_wait *wait,
			   int next, FILE *out)
{
	bool is_thread = wait->kind == RCORE_WAIT_JOIN ||
			 (rcore_wait_is_for_lock(wait) && wait->owner.fiber < 0);
	const struct rcore_fiber *fiber = &snapshot->fibers[next];
	if (is_thread && fiber->thread >= 0 &&
	    strcmp(rcore_fiber_text(snapshot, next), snapshot->threads[fiber->thread].id))
		fprintf(out, ", which runs %s", fiber->id);
}

/*
 * Writes what one fiber does after `before`, which ends with a space. Also
 * writes where, unless it waits for a lock or for another fiber. Returns the
 * fiber that it waits for, or -1. If the sentence continues with that fiber,
 * writes the limit first: ", which, within Timeout.timeout(5), waits for".
 */
static int write_link(const struct rcore_snapshot *snapshot, int index, const char *before,
		      FILE *out)
{
	const struct rcore_fiber *fiber = &snapshot->fibers[index];
	int next = rcore_waited_fiber(snapshot, index);
	bool is_within = fiber->wait && fiber->wait->within;
	fprintf(out, "%.*s", (int)strlen(before) - 1, before);
	if (is_within && next >= 0) {
		rcore_wait_within_write(fiber->wait, out);
		putc(',', out);
	}
	putc(' ', out);
	/* "held by T2 in Foo" would say where T2 is. */
	bool is_gvl = fiber->wait && fiber->wait->kind == RCORE_WAIT_GVL;
	if (is_gvl && write_place(fiber, "is in ", out))
		fputs(" and ", out);
	write_state(snapshot, fiber, out);
	if (is_within && next < 0)
		rcore_wait_within_write(fiber->wait, out);
	if (!rcore_wait_is_for_lock(fiber->wait) && !is_gvl && next < 0)
		write_place(fiber, " in ", out);
	return next;
}

void rcore_summary_state(const struct rcore_snapshot *snapshot, int index, const char *before,
			 FILE *out)
{
	int seen[CHAIN], last = -1;
	size_t length = index < 0 ? 0 : rcore_wait_chain(snapshot, index, &last);
	for (int links = 0; links < CHAIN && index >= 0; links++) {
		for (int i = 0; i < links; i++)
			if (seen[i] == index)
				return;
		if (snapshot->fibers[index].status == RCORE_FIBER_TERMINATED)
			return;
		if (links == CHAIN - 1 && length > CHAIN - 1) {
			fprintf(out, ", and so on to %s", rcore_fiber_text(snapshot, last));
			index = last;
		}
		seen[links] = index;
		int next = write_link(snapshot, index, links ? ", which " : before, out);
		if (next >= 0)
			rcore_summary_current(snapshot, snapshot->fibers[index].wait, next,
					      out);
		index = next;
	}
}
