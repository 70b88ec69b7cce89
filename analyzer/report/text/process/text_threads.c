/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "report/text/text.h"
#include "report/text/process/text_stack.h"
#include "report/text/process/text_values.h"
#include "report/names.h"

enum { NAME_COLUMNS = 24 };

static void print_ractor_title(FILE *out, const struct rcore_ractor *ractor)
{
	fprintf(out, "ractor %" PRIu64, ractor->id);
	if (!ractor->name || !ractor->name[0])
		return;
	fputs(" \"", out);
	rcore_escape_write(out, ractor->name);
	putc('"', out);
}

static void print_ractor_of(const struct rcore_text *text, const struct rcore_thread *thread)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	if (snapshot->ractor_count < 2 || thread->ractor < 0)
		return;
	fputs("  ", text->pen.out);
	print_ractor_title(text->pen.out, &snapshot->ractors[thread->ractor]);
}

/* Returns the columns of: main "name" */
static int name_width(const struct rcore_thread *thread)
{
	size_t width = thread->is_main ? 4 : 0;
	if (thread->name && thread->name[0])
		width += (width ? 1 : 0) + 2 + rcore_escape_width(thread->name);
	return width > NAME_COLUMNS ? NAME_COLUMNS : (int)width;
}

static void print_name(const struct rcore_text *text, const struct rcore_thread *thread,
		       int columns)
{
	FILE *out = text->pen.out;
	int width = name_width(thread);
	if (thread->is_main)
		fputs("main", out);
	if (thread->name && thread->name[0]) {
		fputs(thread->is_main ? " \"" : "\"", out);
		rcore_escape_write(out, thread->name);
		putc('"', out);
	}
	fprintf(out, "%*s", columns > width ? columns - width : 0, "");
}

enum { LWP_SIZE = 24 };

static const char *lwp_words(const struct rcore_thread *thread, char buffer[LWP_SIZE])
{
	if (thread->tid)
		snprintf(buffer, LWP_SIZE, "LWP %d", rcore_lwp(thread->tid, thread->outer_tid));
	else
		snprintf(buffer, LWP_SIZE, "%s", thread->is_parked ? "no LWP" : "");
	return buffer;
}

void rcore_text_measure(struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	int *columns[] = {&text->columns.id, &text->columns.tid, &text->columns.name,
			  &text->columns.status};
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		char lwp[LWP_SIZE];
		int widths[] = {
			snprintf(NULL, 0, "%s", thread->id),
			(int)strlen(lwp_words(thread, lwp)),
			name_width(thread),
			snprintf(NULL, 0, "%s", rcore_thread_text(thread)),
		};
		if (!rcore_pick_thread(snapshot, &text->pick, i) || thread->is_ended)
			continue;
		for (size_t j = 0; j < RCORE_COUNT(widths); j++)
			if (widths[j] > *columns[j])
				*columns[j] = widths[j];
	}
}

static void print_addresses(const struct rcore_text *text, const struct rcore_thread *thread)
{
	rcore_style(&text->pen, RCORE_STYLE_QUIET);
	if (thread->object)
		fprintf(text->pen.out, "  Thread 0x%" PRIx64, thread->object);
	if (thread->address)
		fprintf(text->pen.out, "  rb_thread_t 0x%" PRIx64, thread->address);
	rcore_style(&text->pen, RCORE_STYLE_PLAIN);
}

static void print_fiber_count(const struct rcore_text *text, const struct rcore_thread *thread)
{
	char number[RCORE_COUNT_SIZE];
	fprintf(text->pen.out, "  %s fiber%s", rcore_count_text(thread->fiber_count, number),
		rcore_plural(thread->fiber_count));
	if (text->options.verbose)
		print_addresses(text, thread);
	putc('\n', text->pen.out);
	if (thread->problem)
		rcore_text_problem(text, thread->problem);
}

void rcore_text_thread(struct rcore_text *text, size_t index)
{
	const struct rcore_thread *thread = &text->snapshot->threads[index];
	if (rcore_text_is_merged(text, thread)) {
		rcore_text_thread_group(text, (size_t)thread->group);
		return;
	}
	FILE *out = text->pen.out;
	char lwp[LWP_SIZE];

	rcore_styled(&text->pen, RCORE_STYLE_ID, "%-*s", text->columns.id, thread->id);
	if (text->columns.tid)
		fprintf(out, "  %-*s", text->columns.tid, lwp_words(thread, lwp));
	if (text->columns.name) {
		fputs("  ", out);
		print_name(text, thread, text->columns.name);
	}
	if (rcore_text_is_brief(text, thread)) {
		fputs("  ", out);
		rcore_text_brief(text, thread);
		return;
	}
	fprintf(out, "  %-*s", text->columns.status, rcore_thread_text(thread));
	print_ractor_of(text, thread);
	print_fiber_count(text, thread);
	if (text->options.verbose || text->snapshot->has_values || thread->variables.problem)
		rcore_text_variables(&text->pen, "thread variable", &thread->variables);
	if (!text->options.no_stacks)
		rcore_text_fibers(text, thread->fibers, thread->fiber_count);
}

static void print_ended_thread(struct rcore_text *text, size_t index)
{
	const struct rcore_thread *thread = &text->snapshot->threads[index];
	rcore_styled(&text->pen, RCORE_STYLE_ID, "%s", thread->id);
	if (thread->name && thread->name[0]) {
		fputs("  ", text->pen.out);
		print_name(text, thread, 0);
	}
	print_fiber_count(text, thread);
	if (!text->options.no_stacks)
		rcore_text_fibers(text, thread->fibers, thread->fiber_count);
}

static void print_living(struct rcore_text *text)
{
	size_t *order = rcore_calloc(text->snapshot->thread_count, sizeof(*order));
	if (!order) {
		text->error = text->error ? text->error : rcore_error_no_memory();
		return;
	}
	size_t count = rcore_text_thread_order(text, order);
	bool was_brief = false, any_brief = false;
	for (size_t i = 0; i < count; i++) {
		const struct rcore_thread *thread = &text->snapshot->threads[order[i]];
		bool brief = !rcore_text_is_merged(text, thread) &&
			     rcore_text_is_brief(text, thread);
		if (!text->options.no_stacks && !(brief && was_brief))
			putc('\n', text->pen.out);
		rcore_text_thread(text, order[i]);
		was_brief = brief;
		any_brief = any_brief || brief;
	}
	if (any_brief)
		rcore_styled(&text->pen, RCORE_STYLE_QUIET,
			     "\n--thread ID shows the stack of an idle thread\n");
	free(order);
}

/*
 * Whether a thread and all of its fibers have ended, and only wait for the
 * garbage collector. A program that starts many threads has many of these.
 */
static bool is_spent(const struct rcore_text *text, size_t index)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	const struct rcore_thread *thread = &snapshot->threads[index];
	if (!thread->is_ended || thread->problem || text->options.all ||
	    text->options.verbose || text->pick.thread >= 0 || text->pick.fiber >= 0 ||
	    !rcore_pick_thread(snapshot, &text->pick, index))
		return false;
	for (size_t i = 0; i < thread->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[thread->fibers[i]];
		if (fiber->status != RCORE_FIBER_TERMINATED || fiber->problem)
			return false;
	}
	return true;
}

static size_t count_spent(const struct rcore_text *text)
{
	size_t count = 0;
	for (size_t i = 0; i < text->snapshot->thread_count; i++)
		count += is_spent(text, i);
	return count;
}

static void print_spent(const struct rcore_text *text, size_t count)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	char number[RCORE_COUNT_SIZE];
	size_t shown = 0;
	fprintf(text->pen.out,
		"%s threads whose fibers have ended, too:", rcore_count_text(count, number));
	for (size_t i = 0; i < snapshot->thread_count && shown < RCORE_TEXT_IDS; i++)
		if (is_spent(text, i)) {
			fprintf(text->pen.out, " %s", snapshot->threads[i].id);
			shown++;
		}
	rcore_text_ids_end(text, count, shown);
}

static void print_ended(struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	size_t count = text->orphan_count;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		count += snapshot->threads[i].is_ended &&
			 rcore_pick_thread(snapshot, &text->pick, i);
	if (!count)
		return;
	fputs("\nFibers whose thread has ended\n", text->pen.out);
	size_t spent = count_spent(text);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->threads[i].is_ended &&
		    rcore_pick_thread(snapshot, &text->pick, i) &&
		    (spent < 2 || !is_spent(text, i)))
			print_ended_thread(text, i);
	if (spent > 1)
		print_spent(text, spent);
	if (text->orphan_count) {
		fputs("thread unknown\n", text->pen.out);
		if (!text->options.no_stacks)
			rcore_text_fibers(text, text->orphans, text->orphan_count);
	}
	if (!text->options.no_stacks)
		rcore_text_groups(text, true);
}

void rcore_text_other(struct rcore_text *text, const struct rcore_other_thread *other)
{
	fprintf(text->pen.out, "%sLWP %d  runs no Ruby thread\n",
		rcore_died_other(text->snapshot) == other ? "* " : "  ",
		rcore_lwp(other->tid, other->outer_tid));
	if (other->native_count && !text->options.no_stacks && !text->error)
		text->error = rcore_text_native_stack(&text->pen, text->options.all, other);
	if (other->native_problem)
		rcore_text_problem(text, other->native_problem);
}

const struct rcore_other_thread *rcore_text_first_other(const struct rcore_text *text)
{
	bool has_stacks = !text->options.no_stacks && text->options.native != RCORE_NATIVE_NONE;
	if (text->pick.other || !has_stacks || text->pick.thread >= 0 || text->pick.fiber >= 0)
		return text->pick.other;
	return rcore_died_other(text->snapshot);
}

static void print_first_other(struct rcore_text *text)
{
	const struct rcore_other_thread *first = rcore_text_first_other(text);
	if (!first)
		return;
	if (!text->options.no_stacks)
		putc('\n', text->pen.out);
	rcore_text_other(text, first);
}

/*
 * Prints the stacks of other kernel threads without Ruby on request. Problems
 * of a stack are always printed, because they are counted.
 */
static void print_other_stacks(struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	const struct rcore_other_thread *died = rcore_died_other(snapshot);
	for (size_t i = 0; i < snapshot->other_count; i++) {
		struct rcore_other_thread other = snapshot->others[i];
		if (&snapshot->others[i] == died || text->options.native == RCORE_NATIVE_NONE)
			continue;
		if (text->options.native != RCORE_NATIVE_ALL)
			other.native_count = 0;
		if (!other.native_count && !other.native_problem)
			continue;
		putc('\n', text->pen.out);
		rcore_text_other(text, &other);
	}
}

static void print_others(struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	FILE *out = text->pen.out;
	if (!snapshot->other_count || text->pick.thread >= 0 || text->pick.fiber >= 0 ||
	    text->pick.other)
		return;
	size_t shown = text->options.all || snapshot->other_count < RCORE_TEXT_IDS
			       ? snapshot->other_count
			       : RCORE_TEXT_IDS;
	char number[RCORE_COUNT_SIZE];
	fprintf(out, "\n%s other kernel thread%s without Ruby: LWP",
		rcore_count_text(snapshot->other_count, number),
		rcore_plural(snapshot->other_count));
	for (size_t i = 0; i < shown; i++)
		fprintf(out, " %d",
			rcore_lwp(snapshot->others[i].tid, snapshot->others[i].outer_tid));
	rcore_text_ids_end(text, snapshot->other_count, shown);
	if (!text->options.no_stacks)
		print_other_stacks(text);
}

static void print_ractor_problems(const struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	for (size_t i = 0; i < snapshot->ractor_count; i++) {
		if (!snapshot->ractors[i].problem)
			continue;
		putc('\n', text->pen.out);
		print_ractor_title(text->pen.out, &snapshot->ractors[i]);
		putc('\n', text->pen.out);
		rcore_text_problem(text, snapshot->ractors[i].problem);
	}
}

void rcore_text_rest(struct rcore_text *text)
{
	if (!text->options.no_stacks)
		rcore_text_groups(text, false);
	print_ended(text);
	print_others(text);
}

void rcore_text_threads(struct rcore_text *text)
{
	print_ractor_problems(text);
	print_first_other(text);
	print_living(text);
	rcore_text_rest(text);
}
