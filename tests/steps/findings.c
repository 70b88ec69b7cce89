/* SPDX-License-Identifier: MIT */
#include "findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"

enum { FRAMES_SHOWN = 40 };

const struct rcore_fiber *fiber_of(const struct rcore_snapshot *snapshot, int tid)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (snapshot->fibers[i].tid == tid)
			return &snapshot->fibers[i];
	return NULL;
}

static const struct rcore_native_frame *innermost(const struct rcore_snapshot *snapshot,
						  int tid)
{
	const struct rcore_fiber *fiber = snapshot ? fiber_of(snapshot, tid) : NULL;
	if (fiber)
		return fiber->native_count ? fiber->native : NULL;
	for (size_t i = 0; snapshot && i < snapshot->other_count; i++)
		if (snapshot->others[i].tid == tid && snapshot->others[i].native_count)
			return snapshot->others[i].native;
	return NULL;
}

static void name_native(const struct rcore_native_frame *frame, char *text, size_t size)
{
	if (!frame)
		snprintf(text, size, "nowhere");
	else if (frame->function)
		snprintf(text, size, "%s+0x%" PRIx64, frame->function, frame->function_offset);
	else
		snprintf(text, size, "%s 0x%" PRIx64 " (function 0x%" PRIx64 "+0x%" PRIx64 ")",
			 frame->module ? frame->module : "no module", frame->pc,
			 frame->function_start, frame->function_offset);
}

static void print_native(const struct rcore_native_frame *frame)
{
	char text[256];
	name_native(frame, text, sizeof(text));
	printf("          %s sp 0x%" PRIx64 "%s%s\n", text, frame->sp,
	       frame->trust == RCORE_TRUST_SCANNED ? " (scanned)" : "",
	       frame->is_signal ? " (signal)" : "");
}

static void print_ruby(const struct rcore_frame *frame)
{
	printf("        * %s %s:%d cfp 0x%" PRIx64 " flags 0x%x%s%s\n",
	       frame->label ? frame->label : "?", frame->path ? frame->path : "-", frame->line,
	       frame->cfp, frame->flags, frame->under_construction ? " (being pushed)" : "",
	       frame->kind == RCORE_FRAME_BROKEN ? " BROKEN" : "");
}

static void print_fiber(const struct rcore_fiber *fiber)
{
	printf("        %s 0x%" PRIx64 " status %d%s, tid %d\n", fiber->id, fiber->address,
	       fiber->status, fiber->is_current ? " current" : "", fiber->tid);
	for (size_t i = 0; i < fiber->step_count && i < FRAMES_SHOWN; i++) {
		const struct rcore_step *step = &fiber->steps[i];
		if (step->kind == RCORE_STEP_NATIVE)
			print_native(&fiber->native[step->index]);
		else if (step->kind == RCORE_STEP_RUBY)
			print_ruby(&fiber->frames[step->index]);
		else
			printf("          ---- gap: %s\n", step->reason);
	}
	for (size_t i = 0; !fiber->step_count && i < fiber->frame_count && i < FRAMES_SHOWN;
	     i++)
		print_ruby(&fiber->frames[i]);
	if (fiber->native_problem)
		printf("          ---- %s\n", fiber->native_problem);
}

void print_stacks(const struct rcore_snapshot *snapshot, int tid)
{
	const struct rcore_fiber *fiber = fiber_of(snapshot, tid);
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (&snapshot->fibers[i] == fiber || snapshot->fibers[i].is_current)
			print_fiber(&snapshot->fibers[i]);
	for (size_t i = 0; i < snapshot->other_count; i++) {
		if (snapshot->others[i].tid != tid)
			continue;
		printf("        no Ruby thread\n");
		for (size_t j = 0; j < snapshot->others[i].native_count; j++)
			print_native(&snapshot->others[i].native[j]);
	}
}

static struct finding *class_of(struct findings *findings, const char *name)
{
	for (size_t i = 0; i < findings->classes.count; i++)
		if (!strcmp(findings->classes.items[i].name, name))
			return &findings->classes.items[i];
	struct finding *class = rcore_push(&findings->classes);
	if (!class)
		abort();
	class->name = name;
	return class;
}

/* Whether a finding at this place must still be shown. */
static bool shows(const struct findings *findings, struct finding *class, const char *place)
{
	size_t most = RCORE_COUNT(class->places);
	for (size_t i = 0; i < class->shown; i++)
		if (!strcmp(class->places[i], place))
			return false;
	if (class->shown >= findings->examples || class->shown >= most)
		return false;
	class->places[class->shown++] = strdup(place);
	return true;
}

void finding(struct findings *findings, const char *name, const char *format, ...)
{
	char place[256], function[256];
	struct finding *class = class_of(findings, name);
	const struct rcore_native_frame *frame = innermost(findings->snapshot, findings->tid);
	name_native(frame, place, sizeof(place));
	snprintf(function, sizeof(function), "%s", place);
	char *plus = strrchr(function, '+');
	if (plus)
		*plus = '\0';
	class->states += class->last != findings->at + 1;
	class->last = findings->at + 1;
	if (!shows(findings, class, function))
		return;
	va_list arguments;
	va_start(arguments, format);
	printf("    %s at %" PRIu64 " (thread %d) in %s:\n      ", name, findings->at,
	       findings->tid, place);
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	if (findings->snapshot)
		print_stacks(findings->snapshot, findings->tid);
	fflush(stdout);
}

uint64_t findings_sum(const struct findings *findings)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < findings->classes.count; i++) {
		const struct finding *class = &findings->classes.items[i];
		printf("    %" PRIu64 " states: %s\n", class->states, class->name);
		sum += *class->name == '(' ? 0 : class->states;
	}
	return sum;
}

void findings_deinit(struct findings *findings)
{
	for (size_t i = 0; i < findings->classes.count; i++)
		for (size_t j = 0; j < findings->classes.items[i].shown; j++)
			free(findings->classes.items[i].places[j]);
	free(findings->classes.items);
}
