/* SPDX-License-Identifier: MIT */
#include "triage/blame.h"

#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "image/symbolize/symbolize_gem.h"
#include "triage/normalize.h"
#include "triage/origin.h"

/* In order of interest. */
static const struct {
	enum rcore_origin origin;
	const char *why;
} choices[] = {
	{RCORE_ORIGIN_APP, "the innermost frame of the application"},
	{RCORE_ORIGIN_EXTENSION,
	 "no frame of the application: the innermost frame of a native extension"},
	{RCORE_ORIGIN_GEM, "no frame of the application: the innermost frame of a gem"},
};

/* The Ruby frame that this one called. */
static const struct rcore_frame *called_by(const struct rcore_crash_stack *stack, size_t index)
{
	while (index-- > 0)
		if (stack->frames[index].ruby)
			return stack->frames[index].ruby;
	return NULL;
}

static enum rcore_origin origin_of(const struct rcore_crash_frame *frame)
{
	return frame->ruby ? rcore_origin_of_frame(frame->ruby)
			   : rcore_origin_of_native(frame->native);
}

static struct rcore_error *take_ruby(const struct rcore_frame *frame, struct rcore_arena *arena,
				     struct rcore_blame *blame)
{
	const char *start;
	size_t length = frame->path ? rcore_gem_of_path(frame->path, &start) : 0;
	blame->name = frame->label;
	blame->path = frame->path;
	blame->line = frame->line;
	if (length && !(blame->gem = rcore_arena_strndup(arena, start, length)))
		return rcore_error_no_memory();
	return NULL;
}

static struct rcore_error *take_native(const struct rcore_native_frame *frame,
				       struct rcore_arena *arena, struct rcore_blame *blame)
{
	if (!rcore_native_name(arena, frame, &blame->name))
		return rcore_error_no_memory();
	blame->path = frame->file;
	blame->line = frame->line;
	blame->gem = frame->gem;
	blame->module = frame->module;
	return NULL;
}

static bool is_binstub(const struct rcore_crash_stack *stack, size_t index)
{
	const struct rcore_frame *frame = stack->frames[index].ruby;
	return frame && rcore_is_binstub(frame, called_by(stack, index));
}

static const struct rcore_crash_frame *choose(const struct rcore_crash_stack *stack,
					      const char **why)
{
	for (size_t i = 0; i < RCORE_COUNT(choices); i++)
		for (size_t j = 0; j < stack->count; j++)
			if (origin_of(&stack->frames[j]) == choices[i].origin &&
			    !is_binstub(stack, j)) {
				*why = choices[i].why;
				return &stack->frames[j];
			}
	*why = "neither the application nor an extension nor a gem is on the stack: the "
	       "innermost frame";
	return stack->count ? &stack->frames[0] : NULL;
}

/*
 * Through these, Ruby itself sends signals, waits and calls the kernel, and C++
 * ends a process (std::terminate) for an exception that nothing rescues.
 */
static bool is_runtime(const char *module)
{
	static const char *const names[] = {"libc.so",   "libc-",  "libpthread", "ld-",
					    "libstdc++", "libc++", "libgcc_",    "["};
	for (size_t i = 0; module && i < RCORE_COUNT(names); i++)
		if (!strncmp(module, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * Finds the native code inside frame `end` of the stack: the innermost
 * extension, or else library, and the innermost function that has a name. An
 * extension may have called a library, which is part of it in many gems.
 */
static struct rcore_error *take_callee(const struct rcore_crash_stack *stack, size_t end,
				       struct rcore_arena *arena, struct rcore_blame *blame)
{
	const struct rcore_native_frame *owner = NULL, *inner = NULL;
	bool is_extension = false;
	for (size_t i = 0; i < end && !is_extension; i++) {
		const struct rcore_native_frame *frame = stack->frames[i].native;
		enum rcore_origin origin =
			frame ? rcore_origin_of_native(frame) : RCORE_ORIGIN_UNKNOWN;
		is_extension = origin == RCORE_ORIGIN_EXTENSION;
		if (!is_extension &&
		    (origin != RCORE_ORIGIN_LIBRARY || is_runtime(frame->module)))
			continue;
		if (is_extension || !owner)
			owner = frame;
		if (!inner || (!inner->function && frame->function))
			inner = frame;
	}
	const char *name;
	if (!owner)
		return NULL;
	if (!rcore_native_name(arena, inner, &name))
		return rcore_error_no_memory();
	blame->native = rcore_arena_printf(arena, "%s: %s",
					   owner->gem ? owner->gem : owner->module, name);
	return blame->native ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_blame_find(const struct rcore_crash_stack *stack,
				     struct rcore_snapshot *snapshot)
{
	struct rcore_blame *blame = &snapshot->blame;
	const struct rcore_crash_frame *frame = choose(stack, &blame->why);
	const struct rcore_cause *cause = &snapshot->cause;
	/* Whoever sent the signal knows why. It may have been a thread. */
	if (!frame || cause->from_outside || (cause->sender_pid && !cause->tid)) {
		*blame = (struct rcore_blame){0};
		return NULL;
	}
	blame->present = true;
	blame->fiber = stack->fiber;
	blame->origin = origin_of(frame);
	if (frame->ruby) {
		struct rcore_error *err = take_callee(stack, (size_t)(frame - stack->frames),
						      &snapshot->arena, blame);
		return err ? err : take_ruby(frame->ruby, &snapshot->arena, blame);
	}
	return take_native(frame->native, &snapshot->arena, blame);
}
