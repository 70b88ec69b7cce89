/* SPDX-License-Identifier: MIT */
#include "neighbours.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

static const struct rcore_fiber *same_fiber(const struct rcore_snapshot *snapshot,
					    const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (snapshot->fibers[i].address == fiber->address)
			return &snapshot->fibers[i];
	return NULL;
}

static bool same_frame(const struct rcore_frame *a, const struct rcore_frame *b)
{
	return a->cfp == b->cfp && a->kind == b->kind && a->iseq == b->iseq &&
	       a->line == b->line && rcore_same_text(a->label, b->label) &&
	       rcore_same_text(a->path, b->path) && a->native_line == b->native_line &&
	       rcore_same_text(a->native_label, b->native_label) &&
	       rcore_same_text(a->native_path, b->native_path);
}

/* Of the outermost frames, how many are the same. */
static size_t common_frames(const struct rcore_fiber *a, const struct rcore_fiber *b)
{
	size_t count = 0;
	while (count < a->frame_count && count < b->frame_count &&
	       same_frame(&a->frames[a->frame_count - 1 - count],
			  &b->frames[b->frame_count - 1 - count]))
		count++;
	return count;
}

/* The innermost frame of both may have gone on to another line. */
static bool is_running(const struct rcore_fiber *before, const struct rcore_fiber *now,
		       size_t common)
{
	size_t left = before->frame_count - common, new = now->frame_count - common;
	return left && new && before->frames[left - 1].cfp == now->frames[new - 1].cfp;
}

static void check_ruby(struct findings *findings, const struct rcore_fiber *before,
		       const struct rcore_fiber *now)
{
	size_t common = common_frames(before, now);
	if (is_running(before, now, common))
		common++;
	size_t popped = before->frame_count - common, pushed = now->frame_count - common;
	if (pushed > 1 || (pushed && popped))
		finding(findings, "Ruby frames changed",
			"%s: %zu popped, %zu pushed in one step: %s, was %s", now->id, popped,
			pushed, pushed ? now->frames[pushed - 1].label : "-",
			popped ? before->frames[popped - 1].label : "-");
	else if (popped > 1)
		finding(findings, "(several frames popped)", "%s: %zu", now->id, popped);
}

/*
 * Frames that a call made. The innermost frame, inlined ones, and the one in
 * which a jump is about to land come and go without a call.
 */
static size_t calls(const struct rcore_fiber *fiber, const struct rcore_native_frame *ret[],
		    size_t most)
{
	size_t count = 0;
	for (size_t i = 1; i < fiber->native_count && count < most; i++)
		if (!fiber->native[i].is_inlined && fiber->native[i].sp != fiber->native->sp)
			ret[count++] = &fiber->native[i];
	return count;
}

enum { MOST_FRAMES = 512 };

/*
 * Whether a jump led back into a frame that existed before. It continues
 * elsewhere in that frame.
 */
static bool lands(const struct rcore_native_frame *const old[], size_t old_left,
		  const struct rcore_native_frame *const new[], size_t new_left)
{
	return new_left == 1 && old_left &&
	       old[old_left - 1]->sp == new[0]->sp &&old[old_left - 1]->function_start ==
		       new[0]->function_start;
}

/*
 * A kernel thread that starts to run an M:N thread switches from its own stack
 * to that of the M:N thread. According to the VM, the M:N thread runs there
 * from before the switch until after it.
 */
static bool switches(const struct rcore_fiber *before, const struct rcore_fiber *now)
{
	return before->native_count && now->native_count && now->native->function &&
	       !strcmp(now->native->function, "coroutine_transfer") &&
	       before->native->function_start == now->native->function_start;
}

static void check_native(struct findings *findings, const struct rcore_fiber *before,
			 const struct rcore_fiber *now)
{
	const struct rcore_native_frame *old[MOST_FRAMES], *new[MOST_FRAMES];
	size_t old_count = calls(before, old, MOST_FRAMES);
	size_t new_count = calls(now, new, MOST_FRAMES);
	size_t common = 0;
	while (common < old_count && common < new_count &&
	       old[old_count - 1 - common]->pc ==
		       new[new_count - 1 - common]->pc &&old[old_count - 1 - common]->sp ==
		       new[new_count - 1 - common]->sp)
		common++;
	if (lands(old, old_count - common, new, new_count - common))
		common++;
	size_t popped = old_count - common, pushed = new_count - common;
	bool by_signal = now->native_count > 1 && now->native[1].is_signal;
	if (pushed > 1u + by_signal || (pushed && popped))
		finding(findings, "native frames changed",
			"%s: %zu popped, %zu pushed in one step: %s 0x%" PRIx64
			", was %s 0x%" PRIx64,
			now->id, popped, pushed,
			pushed && new[pushed - 1]->function ? new[pushed - 1]->function : "-",
			pushed ? new[pushed - 1]->pc : 0,
			popped && old[popped - 1]->function ? old[popped - 1]->function : "-",
			popped ? old[popped - 1]->pc : 0);
	else if (popped > 1)
		finding(findings, "(several native frames popped)", "%s: %zu", now->id, popped);
}

static bool in_native(const struct rcore_fiber *fiber, const struct rcore_native_frame *frame)
{
	for (size_t i = 1; i < fiber->native_count; i++)
		if (fiber->native[i].pc == frame->pc && fiber->native[i].sp == frame->sp)
			return true;
	return false;
}

static bool in_ruby(const struct rcore_fiber *fiber, const struct rcore_frame *frame)
{
	for (size_t i = 0; i < fiber->frame_count; i++)
		if (fiber->frames[i].cfp == frame->cfp)
			return true;
	return false;
}

static bool has_function(const struct rcore_fiber *fiber, uint64_t function)
{
	for (size_t i = 0; i < fiber->native_count; i++)
		if (fiber->native[i].function_start == function ||
		    fiber->native[i].part_of == function)
			return true;
	return false;
}

/*
 * The innermost frame has no place while it is pushed. The frame of a method in
 * C also has none before its function runs, and after the function returned or
 * made a tail call: which native frame called it is known only while that one
 * calls another such function (weave/callers.h).
 */
static bool is_placed(const struct rcore_fiber *fiber, const struct rcore_frame *frame)
{
	const struct rcore_frame *innermost = fiber->frames;
	if (frame->cfunc && !has_function(fiber, frame->cfunc))
		return false;
	return !fiber->frame_count || innermost->cfp != frame->cfp ||
	       (innermost->kind == RCORE_FRAME_RUBY && !innermost->under_construction);
}

/* The steps of one fiber that the other has, too, from the innermost: kind and where. */
struct kept {
	enum rcore_step_kind kind;
	uint64_t place;
};

static size_t keep(const struct rcore_fiber *fiber, const struct rcore_fiber *other,
		   struct kept *ret)
{
	size_t count = 0;
	for (size_t i = 0; i < fiber->step_count && count < MOST_FRAMES; i++) {
		const struct rcore_step *step = &fiber->steps[i];
		if (step->kind == RCORE_STEP_NATIVE && step->index &&
		    in_native(other, &fiber->native[step->index]))
			ret[count++] = (struct kept){step->kind, fiber->native[step->index].sp};
		else if (step->kind == RCORE_STEP_RUBY &&
			 is_placed(fiber, &fiber->frames[step->index]) &&
			 is_placed(other, &fiber->frames[step->index]) &&
			 in_ruby(other, &fiber->frames[step->index]))
			ret[count++] =
				(struct kept){step->kind, fiber->frames[step->index].cfp};
	}
	return count;
}

/*
 * Whether a function has jumped to another one, which takes its place on the
 * stack. A method in C may have done so in its last call: then no frame shows
 * where it belongs.
 */
static bool calls_last(const struct rcore_fiber *before, const struct rcore_fiber *now)
{
	return before->native_count == now->native_count && now->native_count &&
	       before->native->function_start != now->native->function_start;
}

/*
 * Whether a jump has left native frames. The control frames that belong to them
 * are popped later.
 */
static bool jumps(const struct rcore_fiber *before, const struct rcore_fiber *now)
{
	return (now->native_count > 1 && now->native[1].sp == now->native->sp &&
		!now->native->is_inlined) ||
	       now->native_count + 1 < before->native_count;
}

/* Whether the innermost frame has just been marked as that of an activation. */
static bool was_marked(const struct rcore_fiber *before, const struct rcore_fiber *now)
{
	return before->frame_count && now->frame_count &&
	       before->frames->cfp == now->frames->cfp &&
	       before->frames->flags != now->frames->flags;
}

static void check_weave(struct findings *findings, const struct rcore_fiber *before,
			const struct rcore_fiber *now, bool filling)
{
	struct kept old[MOST_FRAMES], new[MOST_FRAMES];
	size_t old_count = keep(before, now, old), new_count = keep(now, before, new);
	bool same = old_count == new_count;
	size_t i = 0;
	for (; same && i < old_count; i++)
		same = old[i].kind == new[i].kind &&old[i].place == new[i].place;
	bool may_differ =
		was_marked(before, now) || calls_last(before, now) || jumps(before, now);
	findings->excused |= !same && filling && !may_differ;
	if (!same)
		finding(findings,
			filling || may_differ ? "(woven otherwise)" : "woven otherwise",
			"%s: from step %zu on", now->id, i);
}

/* Checks the fibers that did not move. */
static void check_resting(struct findings *findings, const struct rcore_fiber *before,
			  const struct rcore_fiber *now)
{
	size_t common = common_frames(before, now);
	if (common != before->frame_count || common != now->frame_count)
		finding(findings, "resting fiber", "%s: its Ruby frames changed", now->id);
	/* A new fiber gets its first registers when it is entered. */
	if (before->status == RCORE_FIBER_CREATED || now->status == RCORE_FIBER_CREATED ||
	    now->status == RCORE_FIBER_RESUMED)
		return;
	bool same = before->native_count == now->native_count;
	for (size_t i = 0; same && i < now->native_count; i++)
		same = before->native[i].pc == now->native[i].pc &&
		       before->native[i].sp == now->native[i].sp;
	if (!same)
		finding(findings, "resting fiber", "%s: its native frames changed", now->id);
}

/* A fiber begins once, and ends once. */
static void check_status(struct findings *findings, const struct rcore_fiber *before,
			 const struct rcore_fiber *now)
{
	if (before->status != now->status && before->object == now->object &&
	    (now->status == RCORE_FIBER_CREATED || before->status == RCORE_FIBER_TERMINATED))
		finding(findings, "fiber status", "%s: status %d, was %d", now->id, now->status,
			before->status);
}

static int thread_tid(const struct rcore_snapshot *snapshot, const struct rcore_fiber *fiber)
{
	return fiber->thread < 0 ? 0 : snapshot->threads[fiber->thread].tid;
}

void check_neighbours(struct findings *findings, const struct rcore_snapshot *before,
		      const struct rcore_snapshot *now, int tid, bool filling)
{
	size_t found = 0;
	for (size_t i = 0; i < now->fiber_count; i++) {
		const struct rcore_fiber *fiber = &now->fibers[i];
		const struct rcore_fiber *was = same_fiber(before, fiber);
		if (!was)
			continue;
		found++;
		check_status(findings, was, fiber);
		if (fiber->tid == tid && was->tid == tid) {
			check_ruby(findings, was, fiber);
			if (!switches(was, fiber))
				check_native(findings, was, fiber);
			check_weave(findings, was, fiber, filling);
		} else if (thread_tid(now, fiber) != tid && was->tid != tid) {
			/* A thread that has just left the VM's list ran on its fiber's stack. */
			check_resting(findings, was, fiber);
		} else if (!fiber->is_current && !was->is_current && fiber->tid == was->tid) {
			check_resting(findings, was, fiber);
		}
	}
	if (now->fiber_count > found + 1 || before->fiber_count > found + 1)
		finding(findings, "fibers changed", "%zu, were %zu; %zu in both",
			now->fiber_count, before->fiber_count, found);
}
