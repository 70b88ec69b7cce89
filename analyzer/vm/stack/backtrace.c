/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "ruby/iseq/backtrace.h"
#include "ruby/iseq/label.h"
#include "vm/loader.h"
#include "vm/problem.h"

/* What rb_ec_partial_backtrace_object() uses of a frame. */
struct entry {
	const struct rcore_iseq_info *iseq; /* NULL: a C function */
	const struct rcore_method_entry *method;
	bool shown; /* is in the backtrace */
	/* gets the path and line of its caller, like a C function */
	bool internal;
};

static bool look(struct rcore_ruby *ruby, const struct rcore_frame *frame, struct entry *entry)
{
	enum rcore_label_style style = ruby->layout->traits.label_style;
	*entry = (struct entry){0};
	if (frame->method_entry)
		rcore_error_free(rcore_method_entry(ruby, frame->method_entry, &entry->method));
	if (frame->kind == RCORE_FRAME_CFUNC) {
		entry->shown = entry->method != NULL;
		return entry->shown;
	}
	/*
	 * A C block (IFUNC) has its imemo in place of an iseq, and no pc. The
	 * dummy frame of a file has an iseq, and from 4.0 on a pc.
	 */
	if ((frame->kind != RCORE_FRAME_RUBY && frame->kind != RCORE_FRAME_DUMMY) ||
	    !frame->iseq || !frame->pc)
		return false;
	struct rcore_error *err = rcore_iseq(ruby, frame->iseq, &entry->iseq);
	rcore_error_free(err);
	entry->shown = !err;
	entry->internal =
		!err && ((style == RCORE_LABEL_QUALIFIED && entry->iseq->is_c_trace) ||
			 (style == RCORE_LABEL_BACKPATCH && entry->iseq->is_internal));
	return entry->shown;
}

static bool is_rescue_or_ensure(const struct entry *entry)
{
	return entry->iseq && (entry->iseq->type == RCORE_ISEQ_RESCUE ||
			       entry->iseq->type == RCORE_ISEQ_ENSURE);
}

static void drop(struct rcore_frame *frame)
{
	frame->native_label = frame->native_path = NULL;
	frame->native_line = 0;
}

/*
 * Sets the path and line of `caller`, the next Ruby frame outwards, in those
 * frames from `first` up to `last` that are in the backtrace.
 */
static void settle(struct rcore_fiber *fiber, size_t first, size_t last,
		   const struct rcore_frame *caller)
{
	for (size_t i = first; i < last; i++) {
		struct rcore_frame *frame = &fiber->frames[i];
		if (!frame->native_label)
			continue;
		frame->native_path = caller->path;
		frame->native_line = caller->line;
	}
}

/*
 * If no Ruby frame follows, 4.0's internal frames keep their own path and line,
 * and C functions get the program's (location_to_str()).
 */
static void settle_outermost(struct rcore_loader *loader, struct rcore_fiber *fiber,
			     size_t first)
{
	enum rcore_label_style style = loader->ruby->layout->traits.label_style;
	const char *program, *problem = NULL;
	struct rcore_error *err = rcore_backtrace_program(loader->ruby, &program);
	if (err)
		problem = rcore_problem(loader->snapshot,
					rcore_error_wrap(err, "name of the program"));
	for (size_t i = first; i < fiber->frame_count; i++) {
		struct rcore_frame *frame = &fiber->frames[i];
		bool keeps = frame->kind == RCORE_FRAME_RUBY && style == RCORE_LABEL_BACKPATCH;
		if (!frame->native_label)
			continue;
		if (!keeps && !frame->problem)
			frame->problem = problem;
		frame->native_path = keeps ? frame->path : program;
		frame->native_line = keeps ? frame->line : 0;
	}
}

void rcore_native_backtrace(struct rcore_loader *loader, struct rcore_fiber *fiber)
{
	struct rcore_ruby *ruby = loader->ruby;
	enum rcore_label_style style = ruby->layout->traits.label_style;
	/* the first frame that still needs a path and line */
	size_t waiting = 0;
	bool skip_next = false;

	for (size_t i = 0; i < fiber->frame_count; i++) {
		struct rcore_frame *frame = &fiber->frames[i];
		struct entry entry;
		if (!look(ruby, frame, &entry))
			continue;
		bool skip = skip_next && entry.iseq;
		if (entry.iseq)
			skip_next = style != RCORE_LABEL_PLAIN && is_rescue_or_ensure(&entry);
		if (skip)
			continue;
		rcore_error_free(rcore_native_label(ruby, entry.iseq, entry.method,
						    &frame->native_label));
		if (!entry.iseq)
			continue;
		if (entry.internal) {
			/*
			 * Of adjacent internal frames, 4.0 keeps only the
			 * outermost.
			 */
			if (style == RCORE_LABEL_BACKPATCH)
				for (size_t j = waiting; j < i; j++)
					drop(&fiber->frames[j]);
			continue;
		}
		frame->native_path = frame->path;
		frame->native_line = frame->line;
		settle(fiber, waiting, i, frame);
		waiting = i + 1;
	}
	if (waiting < fiber->frame_count)
		settle_outermost(loader, fiber, waiting);
}
