/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/count.h"
#include "base/text.h"
#include "model/wait_text.h"
#include "report/text/text.h"
#include "report/text/process/text_context.h"
#include "report/text/process/text_exceptions.h"
#include "report/text/process/text_stack.h"
#include "report/text/process/text_values.h"
#include "report/text/process/text_waits.h"
#include "report/text/process/text_works.h"
#include "report/names.h"
#include "triage/origin.h"
#include "triage/workers.h"

/* Whether no option selects a thread or fiber, or asks for more than stacks. */
static bool is_overview(const struct rcore_text *text)
{
	return !text->options.all && text->pick.thread < 0 && text->pick.fiber < 0 &&
	       !text->pick.where && text->options.native == RCORE_NATIVE_FOLDED &&
	       !text->snapshot->has_values;
}

/* Whether the process died in this fiber, or in the thread that runs it. */
static bool died_here(const struct rcore_text *text, const struct rcore_fiber *fiber)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	const struct rcore_thread *thread = rcore_snapshot_thread(snapshot, fiber->thread);
	return (thread && thread->is_crashed && fiber->is_current) ||
	       (snapshot->cause.present && snapshot->cause.fiber >= 0 &&
		&snapshot->fibers[snapshot->cause.fiber] == fiber);
}

void rcore_text_one_stack(struct rcore_text *text, const struct rcore_fiber *fiber, bool all)
{
	struct rcore_report_options options = text->options;
	options.all = all;
	bool fold = !all && is_overview(text) && !died_here(text, fiber);
	struct rcore_error *err = rcore_text_stack(&text->pen, &options, fiber, fold);
	if (text->error)
		rcore_error_free(err);
	else
		text->error = err;
}

static bool is_grouped(const struct rcore_text *text, const struct rcore_fiber *fiber)
{
	return !text->options.all && fiber->group >= 0 && text->visible[fiber->group] > 1;
}

/*
 * Whether nothing is known about a fiber except that it exists, because it has
 * no stack.
 */
static bool is_bare(const struct rcore_fiber *fiber, enum rcore_fiber_status status)
{
	return fiber->status == status && !fiber->frame_count && !fiber->problem &&
	       !fiber->is_current && !fiber->is_root;
}

static void print_state(const struct rcore_text *text, const struct rcore_fiber *fiber)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	FILE *out = text->pen.out;
	if (fiber->resuming >= 0) {
		fprintf(out, "resuming %s", snapshot->fibers[fiber->resuming].id);
	} else if (fiber->is_current) {
		bool runs = fiber->thread >= 0 && !snapshot->threads[fiber->thread].is_ended &&
			    snapshot->threads[fiber->thread].status == RCORE_THREAD_RUNNABLE;
		fputs(runs ? "running" : "current", out);
	} else {
		fputs(rcore_fiber_status_text(fiber->status), out);
	}
	if (fiber->resumed_by >= 0)
		fprintf(out, ", resumed by %s", snapshot->fibers[fiber->resumed_by].id);
	if (fiber->is_late)
		fputs(", read after the stop", out);
	if (fiber->stack_age_ns)
		fprintf(out, ", as of %.1f ms before the stop",
			(double)fiber->stack_age_ns / 1e6);
}

static void print_addresses(const struct rcore_text *text, const struct rcore_fiber *fiber)
{
	rcore_style(&text->pen, RCORE_STYLE_QUIET);
	if (fiber->object)
		fprintf(text->pen.out, "  Fiber 0x%" PRIx64, fiber->object);
	fprintf(text->pen.out, "  rb_fiber_t 0x%" PRIx64 "  ec 0x%" PRIx64, fiber->address,
		fiber->ec);
	rcore_style(&text->pen, RCORE_STYLE_PLAIN);
}

static bool is_in_gem(const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < fiber->frame_count; i++)
		if (rcore_origin_of_frame(&fiber->frames[i]) == RCORE_ORIGIN_GEM)
			return true;
	return false;
}

/*
 * Whether a fiber waits in a gem, for something that a scheduler knows, and no
 * code of the application is on its stack. Such a fiber accepts connections,
 * for example.
 */
static bool is_parked_in_library(const struct rcore_fiber *fiber)
{
	return fiber->status == RCORE_FIBER_SUSPENDED && fiber->resuming < 0 &&
	       !fiber->problem && !fiber->works.count && !rcore_application_frame(fiber) &&
	       is_in_gem(fiber);
}

/*
 * The stack of a thread that waits for work is printed on request: by --thread,
 * --fiber, --native, --self and the like, or --all. It is also printed if
 * something is wrong with it.
 */
static bool is_brief(const struct rcore_text *text, const struct rcore_fiber *fiber)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	const struct rcore_thread *thread = rcore_snapshot_thread(snapshot, fiber->thread);
	bool is_idle = fiber->is_current ? fiber->is_root && thread && thread->is_idle
					 : is_parked_in_library(fiber);
	return is_idle && is_overview(text) && !fiber->native_problem &&
	       !fiber->exception_count && thread && !thread->is_crashed &&
	       rcore_text_place(fiber);
}

bool rcore_text_is_brief(const struct rcore_text *text, const struct rcore_thread *thread)
{
	const struct rcore_fiber *fiber =
		thread->fiber_count == 1
			? rcore_snapshot_fiber(text->snapshot, thread->fibers[0])
			: NULL;
	return fiber && fiber->is_current && fiber->wait && !text->options.no_stacks &&
	       !text->options.verbose && !thread->problem && !thread->variables.problem &&
	       !fiber->problem && !fiber->storage.problem && !fiber->locals.problem &&
	       !fiber->context.pair_count && !fiber->context.problem &&
	       !fiber->context.difference && is_brief(text, fiber);
}

void rcore_text_brief(const struct rcore_text *text, const struct rcore_thread *thread)
{
	const struct rcore_fiber *fiber = &text->snapshot->fibers[thread->fibers[0]];
	const struct rcore_frame *place = rcore_text_place(fiber);
	FILE *out = text->pen.out;
	fputs("idle", out);
	rcore_text_wait(text, fiber->wait);
	fputs(" in ", out);
	rcore_escape_write(out, place->label ? place->label : "?");
	rcore_text_works_inline(&text->pen, "  ", fiber);
	putc('\n', out);
}

static void print_place(const struct rcore_text *text, const struct rcore_fiber *fiber)
{
	const struct rcore_frame *place = rcore_text_place(fiber);
	FILE *out = text->pen.out;
	fputs("          in ", out);
	rcore_escape_write(out, place->label ? place->label : "?");
	fputs("  ", out);
	rcore_escape_write(out, place->path);
	if (place->line)
		fprintf(out, ":%d", place->line);
	rcore_styled(&text->pen, RCORE_STYLE_QUIET, "  (idle; --%s %s shows its stack)\n",
		     fiber->is_root ? "thread" : "fiber",
		     fiber->is_root ? text->snapshot->threads[fiber->thread].id : fiber->id);
}

static void print_fiber(struct rcore_text *text, size_t index)
{
	const struct rcore_fiber *fiber = &text->snapshot->fibers[index];
	bool is_cause =
		text->snapshot->cause.present && text->snapshot->cause.fiber == (int)index;
	char count[RCORE_COUNT_SIZE];

	fputs(is_cause ? "* " : "  ", text->pen.out);
	rcore_styled(&text->pen, RCORE_STYLE_ID, "%-8s", fiber->id);
	fprintf(text->pen.out, " %s",
		fiber->is_root           ? "root, "
		: fiber->is_continuation ? "callcc, "
					 : "");
	print_state(text, fiber);
	if (fiber->frame_count > 100)
		fprintf(text->pen.out, ", %s frames",
			rcore_count_text(fiber->frame_count, count));
	rcore_text_wait(text, fiber->wait);
	rcore_text_context(&text->pen, "  ", &fiber->context);
	if (text->options.verbose)
		print_addresses(text, fiber);
	putc('\n', text->pen.out);
	rcore_text_works(&text->pen, "          ", fiber);
	rcore_text_context_remarks(&text->pen, "    ", &fiber->context);
	if (is_brief(text, fiber))
		print_place(text, fiber);
	else
		rcore_text_one_stack(text, fiber, text->options.all);
	rcore_text_exceptions(&text->pen, fiber, text->options.all);
	if (text->options.verbose || text->snapshot->has_values || fiber->storage.problem ||
	    fiber->locals.problem) {
		rcore_text_variables(&text->pen, "storage", &fiber->storage);
		rcore_text_variables(&text->pen, "fiber local", &fiber->locals);
	}
	if (fiber->problem)
		rcore_text_problem(text, fiber->problem);
}

static const struct {
	enum rcore_fiber_status status;
	const char *words;
} bare_kinds[] = {
	{RCORE_FIBER_CREATED, "created, not started"},
	{RCORE_FIBER_TERMINATED, "terminated"},
};
enum { BARE_KINDS = RCORE_COUNT(bare_kinds) };

static void print_bare(const struct rcore_text *text, const int *fibers, size_t fiber_count,
		       size_t kind, size_t count)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	char number[RCORE_COUNT_SIZE];
	fprintf(text->pen.out, "  %s fibers %s:", rcore_count_text(count, number),
		bare_kinds[kind].words);
	size_t shown = 0;
	for (size_t i = 0; i < fiber_count && shown < RCORE_TEXT_IDS; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[fibers[i]];
		if (!is_bare(fiber, bare_kinds[kind].status))
			continue;
		fprintf(text->pen.out, " %s", fiber->id);
		shown++;
	}
	rcore_text_ids_end(text, count, shown);
}

static bool is_merged(const struct rcore_text *text, const struct rcore_fiber *fiber,
		      const size_t bare_counts[BARE_KINDS])
{
	for (size_t kind = 0; kind < BARE_KINDS; kind++)
		if (bare_counts[kind] > 1 && is_bare(fiber, bare_kinds[kind].status))
			return true;
	return is_grouped(text, fiber);
}

void rcore_text_fibers(struct rcore_text *text, const int *fibers, size_t count)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	size_t bare_counts[BARE_KINDS] = {0};
	bool merge = !text->options.all && text->pick.fiber < 0;
	for (size_t i = 0; i < count && merge; i++)
		for (size_t kind = 0; kind < BARE_KINDS; kind++)
			bare_counts[kind] +=
				is_bare(&snapshot->fibers[fibers[i]], bare_kinds[kind].status);
	for (size_t i = 0; i < count; i++) {
		size_t fiber = (size_t)fibers[i];
		if (rcore_pick_fiber(snapshot, &text->pick, fiber) &&
		    !is_merged(text, &snapshot->fibers[fiber], bare_counts))
			print_fiber(text, fiber);
	}
	for (size_t kind = 0; kind < BARE_KINDS; kind++)
		if (bare_counts[kind] > 1)
			print_bare(text, fibers, count, kind, bare_counts[kind]);
}

static void print_similar(const struct rcore_text *text, const struct rcore_fiber_group *group)
{
	fputs("  similar:", text->pen.out);
	for (size_t i = 0; i < group->similar_listed && i < RCORE_TEXT_SIMILAR; i++)
		fprintf(text->pen.out, " %s",
			rcore_fiber_text(text->snapshot, group->similar[i]));
	rcore_text_similar_end(text, group->similar_count);
}

/* Prints how many visible fibers of a group have stacks of before the stop. */
static void print_group_age(const struct rcore_text *text,
			    const struct rcore_fiber_group *group, size_t visible)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	char number[RCORE_COUNT_SIZE];
	size_t count = 0;
	uint64_t age = 0;
	for (size_t i = 0; i < group->count; i++) {
		uint64_t own = snapshot->fibers[group->fibers[i]].stack_age_ns;
		if (!own || !rcore_pick_fiber(snapshot, &text->pick, (size_t)group->fibers[i]))
			continue;
		count++;
		age = own > age ? own : age;
	}
	if (count)
		fprintf(text->pen.out, "  %s%s as of %.1f ms before the stop\n",
			count == visible ? "all" : rcore_count_text(count, number),
			count == visible ? "" : " of them", (double)age / 1e6);
}

static void print_group(struct rcore_text *text, size_t index)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	const struct rcore_fiber_group *group = &snapshot->groups[index];
	const struct rcore_fiber *first = &snapshot->fibers[group->fibers[0]];
	/* The application's line says more than the scheduler's. */
	const struct rcore_frame *place = rcore_application_frame(first);
	char number[RCORE_COUNT_SIZE];
	FILE *out = text->pen.out;

	place = place ? place : rcore_text_place(first);
	putc('\n', out);
	rcore_styled(&text->pen, RCORE_STYLE_ID, "%s fibers",
		     rcore_count_text(text->visible[index], number));
	fprintf(out, " parked with %s", group->differs ? "similar stacks" : "the same stack");
	if (place) {
		fputs(" at ", out);
		rcore_escape_write(out, place->path);
		fprintf(out, ":%d%s", place->line, group->differs ? " and elsewhere" : "");
	}
	rcore_text_merged(text, group->fibers, group->count, text->visible[index]);
	rcore_text_same_wait(text, group->fibers, group->count);
	print_group_age(text, group, text->visible[index]);
	if (group->similar_count)
		print_similar(text, group);
	rcore_text_one_stack(text, first, false);
}

void rcore_text_groups(struct rcore_text *text, bool ended)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	for (size_t i = 0; i < snapshot->group_count; i++) {
		int thread = snapshot->fibers[snapshot->groups[i].fibers[0]].thread;
		bool is_ended = thread < 0 || snapshot->threads[thread].is_ended;
		if (!text->options.all && text->visible[i] > 1 && is_ended == ended)
			print_group(text, i);
	}
}
