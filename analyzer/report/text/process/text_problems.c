/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/text.h"
#include "report/text/text.h"
#include "report/names.h"

static size_t count_frames(const struct rcore_snapshot *snapshot)
{
	size_t count = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		for (size_t j = 0; j < snapshot->fibers[i].frame_count; j++)
			count += snapshot->fibers[i].frames[j].problem != NULL;
	return count;
}

static size_t count_exceptions(const struct rcore_snapshot *snapshot)
{
	size_t count = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		for (size_t j = 0; j < fiber->exception_count; j++)
			for (const struct rcore_exception *each = &fiber->exceptions[j]; each;
			     each = each->cause)
				count += each->problem != NULL;
	}
	return count;
}

/* Counts the variables of frames, fibers and threads. */
static size_t count_variables(const struct rcore_snapshot *snapshot)
{
	size_t count = 0;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		count += snapshot->threads[i].variables.problem != NULL;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		count += (fiber->storage.problem != NULL) + (fiber->locals.problem != NULL);
		for (size_t j = 0; j < fiber->frame_count; j++)
			count += fiber->frames[j].values && fiber->frames[j].values->problem;
	}
	return count;
}

static size_t count_tasks(const struct rcore_snapshot *snapshot)
{
	size_t count = 0;
	for (size_t i = 0; i < snapshot->task_count; i++)
		count += snapshot->tasks[i].problem != NULL;
	return count;
}

static size_t count_native(const struct rcore_snapshot *snapshot)
{
	size_t count = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		count += snapshot->fibers[i].native_problem ||
			 rcore_fiber_has_gap(&snapshot->fibers[i]);
	for (size_t i = 0; i < snapshot->other_count; i++)
		count += snapshot->others[i].native_problem != NULL;
	return count;
}

/*
 * Begins a line. The first one prints the heading, which is never printed
 * alone.
 */
static FILE *begin_line(const struct rcore_text *text, bool *headed)
{
	if (!*headed)
		fputs("\nProblems\n", text->pen.out);
	*headed = true;
	fputs("  ! ", text->pen.out);
	return text->pen.out;
}

static void print_count(const struct rcore_text *text, const char **before, size_t count,
			const char *what)
{
	char number[RCORE_COUNT_SIZE];
	if (!count)
		return;
	fprintf(text->pen.out, "%s%s %s%s", *before, rcore_count_text(count, number), what,
		rcore_plural(count));
	*before = ", ";
}

static void print_parts(const struct rcore_text *text, bool *headed)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	size_t ractors = 0, threads = 0, fibers = 0;
	for (size_t i = 0; i < snapshot->ractor_count; i++)
		ractors += snapshot->ractors[i].problem != NULL;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		threads += snapshot->threads[i].problem != NULL;
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		fibers += snapshot->fibers[i].problem || snapshot->fibers[i].frames_truncated;
	size_t frames = count_frames(snapshot);
	size_t exceptions = count_exceptions(snapshot), tasks = count_tasks(snapshot);
	size_t variables = count_variables(snapshot), native = count_native(snapshot);
	if (!ractors && !threads && !fibers && !frames && !exceptions && !variables && !tasks &&
	    !native)
		return;
	begin_line(text, headed);
	const char *before = "not decoded completely, marked with \"!\" above: ";
	print_count(text, &before, ractors, "ractor");
	print_count(text, &before, threads, "thread");
	print_count(text, &before, fibers, "fiber");
	print_count(text, &before, frames, "frame");
	print_count(text, &before, exceptions, "exception");
	print_count(text, &before, variables, "variable list");
	print_count(text, &before, tasks, "task");
	print_count(text, &before, native, "native stack");
	putc('\n', text->pen.out);
}

static bool is_other_build(const struct rcore_module_info *module)
{
	return module->lost && rcore_same_text(module->status, "wrong build");
}

static const char *words_of(const struct rcore_module_info *module)
{
	if (is_other_build(module))
		return "another build of ";
	return module->file && rcore_same_text(module->status, "found") ? "incomplete file for "
									: "no file for ";
}

/* Whether to report that the right file of a module is missing. */
static bool is_told(const struct rcore_text *text, const struct rcore_module_info *module)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	/* A missing file matters only if something could not be decoded. */
	if (snapshot->incomplete || snapshot->failure)
		return module->lost;
	/*
	 * If a library was replaced after the crash, rcore does not recognize
	 * its frames, so it may blame another frame.
	 */
	return snapshot->cause.present && is_other_build(module);
}

static void print_modules(const struct rcore_text *text, bool *headed)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	size_t lost = 0;
	const struct rcore_module_info *first = NULL;
	for (size_t i = 0; i < snapshot->module_count; i++) {
		if (!is_told(text, &snapshot->modules[i]))
			continue;
		lost++;
		if (!first || snapshot->modules[i].is_ruby)
			first = &snapshot->modules[i];
	}
	if (!first)
		return;
	FILE *out = begin_line(text, headed);
	fputs(words_of(first), out);
	rcore_escape_write(out, first->path ? first->path : "a module");
	if (lost > 1)
		fprintf(out, " and %zu more", lost - 1);
	fputs(" on this machine; run rcore doctor to see what is lost and how to get it", out);
	putc('\n', out);
}

static bool tells_files(const struct rcore_text *text)
{
	for (size_t i = 0; i < text->snapshot->module_count; i++)
		if (is_told(text, &text->snapshot->modules[i]))
			return true;
	return false;
}

void rcore_text_problems(const struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	bool tell_files = tells_files(text);
	bool headed = false;
	if (!snapshot->incomplete && !snapshot->problem_count && !tell_files)
		return;
	rcore_style(&text->pen, RCORE_STYLE_PROBLEM);
	print_parts(text, &headed);
	for (size_t i = 0; i < snapshot->problem_count; i++) {
		rcore_escape_write(begin_line(text, &headed), snapshot->problems[i]);
		putc('\n', text->pen.out);
	}
	if (tell_files)
		print_modules(text, &headed);
	/* An exit status of 1 must have an explanation. */
	if (snapshot->incomplete && !headed)
		fputs("not everything could be decoded; see the marks above\n",
		      begin_line(text, &headed));
	rcore_style(&text->pen, RCORE_STYLE_PLAIN);
}

void rcore_text_problem(const struct rcore_text *text, const char *problem)
{
	rcore_style(&text->pen, RCORE_STYLE_PROBLEM);
	fputs("    ! ", text->pen.out);
	rcore_escape_write(text->pen.out, problem);
	rcore_style(&text->pen, RCORE_STYLE_PLAIN);
	putc('\n', text->pen.out);
}
