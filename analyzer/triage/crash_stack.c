/* SPDX-License-Identifier: MIT */
#include "triage/crash_stack.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int main_fiber(const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->threads[i].is_main)
			return snapshot->threads[i].current_fiber;
	return -1;
}

static const struct rcore_other_thread *dead_other(const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; snapshot->cause.tid && i < snapshot->other_count; i++)
		if (snapshot->others[i].tid == snapshot->cause.tid)
			return &snapshot->others[i];
	return NULL;
}

static size_t join(const struct rcore_fiber *fiber, struct rcore_crash_frame *ret)
{
	size_t count = 0;
	for (size_t i = 0; i < fiber->step_count; i++) {
		const struct rcore_step *step = &fiber->steps[i];
		if (step->kind == RCORE_STEP_RUBY)
			ret[count++].ruby = &fiber->frames[step->index];
		else if (step->kind == RCORE_STEP_NATIVE)
			ret[count++].native = &fiber->native[step->index];
	}
	for (size_t i = 0; !fiber->step_count && i < fiber->frame_count; i++)
		ret[count++].ruby = &fiber->frames[i];
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (!ret[i].ruby || ret[i].ruby->kind != RCORE_FRAME_DUMMY)
			ret[kept++] = ret[i];
	return kept;
}

static bool is_libc(const struct rcore_native_frame *frame)
{
	return frame->module && !strncmp(frame->module, "libc.so", 7);
}

/*
 * Returns the index of the frame with the fault: after the signal's trampoline,
 * otherwise after libc's frames from abort() to the kernel.
 */
static size_t start_of(const struct rcore_crash_stack *stack, int signo)
{
	size_t start = 0, natives = 0;
	while (natives < stack->count && stack->frames[natives].native)
		natives++;
	for (size_t i = 0; i < natives; i++)
		if (stack->frames[i].native->is_signal)
			start = i + 1;
	if (start)
		return start;
	while (signo == SIGABRT && start < natives && is_libc(stack->frames[start].native))
		start++;
	return start;
}

struct rcore_error *rcore_crash_stack_init(const struct rcore_snapshot *snapshot,
					   struct rcore_crash_stack *ret)
{
	const struct rcore_other_thread *other = dead_other(snapshot);
	struct rcore_crash_stack stack = {.fiber = snapshot->cause.fiber};
	int first = main_fiber(snapshot);
	if (first >= 0 && (snapshot->cause.from_outside || (stack.fiber < 0 && !other)))
		stack.fiber = first;
	const struct rcore_fiber *fiber =
		stack.fiber >= 0 ? &snapshot->fibers[stack.fiber] : NULL;
	size_t room = fiber   ? fiber->step_count + fiber->frame_count
		      : other ? other->native_count
			      : 0;
	stack.frames = rcore_calloc(room, sizeof(*stack.frames));
	if (!stack.frames)
		return rcore_error_no_memory();
	if (fiber)
		stack.count = join(fiber, stack.frames);
	else
		for (; stack.count < room; stack.count++)
			stack.frames[stack.count].native = &other->native[stack.count];
	size_t start = start_of(&stack, snapshot->cause.signo);
	stack.count -= start;
	memmove(stack.frames, stack.frames + start, stack.count * sizeof(*stack.frames));
	*ret = stack;
	return NULL;
}

void rcore_crash_stack_deinit(struct rcore_crash_stack *stack)
{
	free(stack->frames);
	*stack = (struct rcore_crash_stack){.fiber = -1};
}
