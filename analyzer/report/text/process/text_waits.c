/* SPDX-License-Identifier: MIT */
#include "report/redaction.h"
#include "report/text/process/text_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/wait_text.h"
#include "triage/summary_text.h"
#include "triage/wait_peer.h"

void rcore_text_deadlocks(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->deadlock_count; i++) {
		rcore_style(pen, RCORE_STYLE_CAUSE);
		fprintf(pen->out, "Deadlock: %s", snapshot->deadlocks[i].text);
		rcore_style(pen, RCORE_STYLE_PLAIN);
		putc('\n', pen->out);
	}
}

static const char *const sources[] = {
	[RCORE_WAIT_BY_VM] = "the VM's list",
	[RCORE_WAIT_BY_FRAME] = "the method",
	[RCORE_WAIT_BY_SYSCALL] = "the system call",
};

void rcore_text_wait(const struct rcore_text *text, const struct rcore_wait *wait)
{
	if (!wait)
		return;
	fputs(", ", text->pen.out);
	rcore_wait_write(text->snapshot, wait, text->pen.out);
	if (text->options.verbose)
		rcore_styled(&text->pen, RCORE_STYLE_QUIET, " (known by %s)",
			     sources[wait->source]);
}

/* Returns NULL if memory is short. */
static char *wait_text(const struct rcore_snapshot *snapshot, const struct rcore_wait *wait)
{
	char *text = NULL;
	size_t size;
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return NULL;
	rcore_wait_write(snapshot, wait, out);
	fclose(out); /* if memory is short, `text` stays NULL */
	return text;
}

/*
 * Whether the argument is a time: of threads that wait for the same, each has
 * its own.
 */
static bool has_limit(const struct rcore_wait *wait)
{
	return wait->argument && wait->kind != RCORE_WAIT_RESOLVE &&
	       wait->kind != RCORE_WAIT_SYSCALL && !rcore_wait_is_for_lock(wait);
}

/*
 * Writes what all of them wait for; returns false if they differ. Sets
 * text->error.
 */
static bool write_same(struct rcore_text *text, const int *fibers, size_t count,
		       bool with_limits)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	char *same = NULL;
	bool all_same = true;
	for (size_t i = 0; all_same && i < count; i++) {
		struct rcore_wait wait = *snapshot->fibers[fibers[i]].wait;
		if (!with_limits && has_limit(&wait))
			wait.argument = NULL;
		char *words = wait_text(snapshot, &wait);
		if (!words && !text->error)
			text->error = rcore_error_no_memory();
		all_same = words && (!same || !strcmp(same, words));
		if (same) {
			free(words);
			continue;
		}
		same = words;
	}
	if (all_same && same)
		fprintf(text->pen.out, "  each %s\n", same);
	free(same);
	return all_same && same;
}

void rcore_text_same_wait(struct rcore_text *text, const int *fibers, size_t count)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	const struct rcore_wait *first = snapshot->fibers[fibers[0]].wait;
	if (!first)
		return;
	for (size_t i = 1; i < count; i++) {
		const struct rcore_wait *wait = snapshot->fibers[fibers[i]].wait;
		if (!wait || wait->kind != first->kind)
			return;
	}
	if (write_same(text, fibers, count, true) || write_same(text, fibers, count, false))
		return;
	fputs("  each ", text->pen.out);
	if (rcore_waits_same_peer(snapshot, fibers, count))
		rcore_wait_peer_write(first, false, text->pen.out);
	else
		fprintf(text->pen.out, "waits: %s", rcore_wait_kind_name(first->kind));
	fputs(" (rcore waits shows each)\n", text->pen.out);
}

/* `rcore waits` */

static const char *state(const struct rcore_snapshot *snapshot, const struct rcore_fiber *fiber)
{
	const struct rcore_thread *thread =
		fiber->thread < 0 ? NULL : &snapshot->threads[fiber->thread];
	if (!fiber->is_current || !thread)
		return "parked";
	if (thread->is_crashed)
		return "runs; it died here";
	if (thread->gvl == RCORE_GVL_HOLDER)
		return "runs";
	if (thread->gvl == RCORE_GVL_RELEASED)
		return "runs or waits without the GVL";
	return thread->gvl == RCORE_GVL_WAITING ? "is ready to run" : "unknown";
}

/* Where in the application; `before` is what leads to it. */
static void print_place(const struct rcore_fiber *fiber, const char *before, FILE *out)
{
	const struct rcore_frame *frame = rcore_summary_place(fiber);
	if (!frame)
		return;
	fputs(before, out);
	rcore_summary_frame(frame, true, out);
}

/* A thread without the GVL is in a method written in C. */
static void print_state(const struct rcore_snapshot *snapshot, const struct rcore_fiber *fiber,
			FILE *out)
{
	bool is_in_c = fiber->is_current && fiber->thread >= 0 && fiber->frame_count &&
		       fiber->frames[0].kind == RCORE_FRAME_CFUNC && fiber->frames[0].label &&
		       snapshot->threads[fiber->thread].gvl == RCORE_GVL_RELEASED;
	fputs(state(snapshot, fiber), out);
	if (is_in_c) {
		fputs(", in ", out);
		rcore_escape_write(out, fiber->frames[0].label);
	}
	print_place(fiber, is_in_c ? ", called from " : ", in ", out);
	putc('\n', out);
}

/*
 * A parked fiber that waits for nothing known gets no row, because there may be
 * thousands.
 */
static bool is_row(const struct rcore_snapshot *snapshot, const struct rcore_pick *pick,
		   size_t index)
{
	const struct rcore_fiber *fiber = &snapshot->fibers[index];
	return rcore_pick_fiber(snapshot, pick, index) &&
	       (fiber->wait || fiber->is_current || pick->fiber >= 0);
}

static int width_of_ids(const struct rcore_snapshot *snapshot, const struct rcore_pick *pick)
{
	size_t widest = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		size_t width = strlen(rcore_fiber_text(snapshot, (int)i));
		if (is_row(snapshot, pick, i) && width > widest)
			widest = width;
	}
	return (int)widest;
}

static void print_row(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot,
		      size_t index, int width)
{
	const struct rcore_fiber *fiber = &snapshot->fibers[index];
	const struct rcore_thread *thread =
		fiber->thread < 0 ? NULL : &snapshot->threads[fiber->thread];
	rcore_styled(pen, RCORE_STYLE_ID, "%-*s", width,
		     rcore_fiber_text(snapshot, (int)index));
	fputs("  ", pen->out);
	if (fiber->is_current && thread && (thread->is_main || thread->name)) {
		fputs(thread->is_main ? "main" : "", pen->out);
		if (thread->name && thread->name[0]) {
			fputs(thread->is_main ? " \"" : "\"", pen->out);
			rcore_escape_write(pen->out, thread->name);
			putc('"', pen->out);
		}
		fputs(": ", pen->out);
	}
	if (!fiber->wait) {
		print_state(snapshot, fiber, pen->out);
		return;
	}
	rcore_wait_write(snapshot, fiber->wait, pen->out);
	print_place(fiber, ", in ", pen->out);
	rcore_style(pen, RCORE_STYLE_QUIET);
	fprintf(pen->out, "  [%s", sources[fiber->wait->source]);
	if (fiber->wait->method) {
		fputs("; ", pen->out);
		rcore_escape_write(pen->out, fiber->wait->method);
	}
	if (fiber->wait->hook)
		fprintf(pen->out, "; scheduler's %s", fiber->wait->hook);
	putc(']', pen->out);
	rcore_style(pen, RCORE_STYLE_PLAIN);
	putc('\n', pen->out);
}

/* Thread by thread, then the fibers whose thread is not known. */
static void print_rows(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot,
		       const struct rcore_pick *pick)
{
	size_t parked = 0;
	int width = width_of_ids(snapshot, pick);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		for (size_t j = 0; j < snapshot->threads[i].fiber_count; j++) {
			size_t fiber = (size_t)snapshot->threads[i].fibers[j];
			if (is_row(snapshot, pick, fiber))
				print_row(pen, snapshot, fiber, width);
			else if (snapshot->fibers[fiber].status == RCORE_FIBER_SUSPENDED)
				parked += rcore_pick_fiber(snapshot, pick, fiber);
		}
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (snapshot->fibers[i].thread < 0 && is_row(snapshot, pick, i))
			print_row(pen, snapshot, i, width);
	if (parked)
		fprintf(pen->out, "%zu more fiber%s for nothing that the VM knows\n", parked,
			parked == 1 ? " waits" : "s wait");
}

static void print_locks(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	if (!snapshot->lock_count)
		return;
	fputs("\nLocks held\n", pen->out);
	for (size_t i = 0; i < snapshot->lock_count; i++) {
		const struct rcore_lock *lock = &snapshot->locks[i];
		fputs("  ", pen->out);
		rcore_lock_write(snapshot, lock->kind, lock->object, lock->address,
				 &lock->owner, pen->out);
		if (lock->count > 1)
			fprintf(pen->out, ", entered %llu times",
				(unsigned long long)lock->count);
		for (size_t j = 0; j < lock->waiter_count; j++)
			fprintf(pen->out, "%s %s", j ? "," : "; wanted by",
				rcore_fiber_text(snapshot, lock->waiters[j]));
		putc('\n', pen->out);
		if (!lock->problem)
			continue;
		rcore_style(pen, RCORE_STYLE_PROBLEM);
		fputs("    ! ", pen->out);
		rcore_escape_write(pen->out, lock->problem);
		rcore_style(pen, RCORE_STYLE_PLAIN);
		putc('\n', pen->out);
	}
}

struct rcore_error *rcore_report_waits(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out)
{
	struct rcore_pen pen = {.out = out, .color = options && options->color};
	struct rcore_pick pick;
	struct rcore_error *err = rcore_pick_init(snapshot, options, &pick);
	if (err)
		return err;
	rcore_text_deadlocks(&pen, snapshot);
	rcore_text_summary(&pen, snapshot);
	if (snapshot->deadlock_count || snapshot->summary_count)
		putc('\n', out);
	print_rows(&pen, snapshot, &pick);
	print_locks(&pen, snapshot);
	if (snapshot->wait_problem) {
		rcore_style(&pen, RCORE_STYLE_PROBLEM);
		fputs("\n  ! ", out);
		rcore_escape_write(out, snapshot->wait_problem);
		rcore_style(&pen, RCORE_STYLE_PLAIN);
		putc('\n', out);
	}
	rcore_text_redaction(&pen, &snapshot->redaction);
	return rcore_pen_error(out);
}
