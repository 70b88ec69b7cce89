/* SPDX-License-Identifier: MIT */
#include "checks.h"

#include <inttypes.h>
#include <string.h>

#include "base/count.h"

static void check_whole(struct findings *findings, const struct rcore_snapshot *snapshot,
			const char *layout)
{
	for (size_t i = 0; i < snapshot->problem_count; i++)
		finding(findings, "problem", "%s", snapshot->problems[i]);
	for (size_t i = 0; i < snapshot->proof_count; i++)
		if (!snapshot->proofs[i].passed || snapshot->proofs[i].missed)
			finding(findings, "proof", "%s: %s (%zu missed)",
				snapshot->proofs[i].name,
				snapshot->proofs[i].detail ? snapshot->proofs[i].detail : "",
				snapshot->proofs[i].missed);
	if (strcmp(snapshot->layout_name, layout) || snapshot->shift_count)
		finding(findings, "layout", "%s (%s), was %s", snapshot->layout_name,
			snapshot->layout_source, layout);
	if (snapshot->wait_problem)
		finding(findings, "waits", "%s", snapshot->wait_problem);
	if (snapshot->deadlock_count)
		finding(findings, "deadlock", "where there is none");
}

/*
 * A thread's fiber is resumed while it runs. It is left in a method in C (fiber_switch() of cont.c), or when it
 * has ended: then neither is, or the one that is entered already.
 */
static void check_current(struct findings *findings, const struct rcore_snapshot *snapshot,
			  const struct rcore_thread *thread)
{
	size_t current = 0, resumed = 0;
	for (size_t i = 0; i < thread->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[thread->fibers[i]];
		resumed += fiber->status == RCORE_FIBER_RESUMED;
		if (!fiber->is_current)
			continue;
		current++;
		if (fiber->status != RCORE_FIBER_RESUMED && fiber->frame_count &&
		    fiber->frames->kind == RCORE_FRAME_RUBY)
			finding(findings, "fiber status", "%s runs with status %d", fiber->id,
				fiber->status);
	}
	if (current != !thread->is_ended && thread->status != RCORE_THREAD_KILLED)
		finding(findings, "current fibers", "%s has %zu", thread->id, current);
	if (resumed > 1)
		finding(findings, "fiber status", "%s has %zu fibers resumed", thread->id,
			resumed);
}

static void check_threads(struct findings *findings, const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		if (thread->problem)
			finding(findings, "thread problem", "%s: %s", thread->id,
				thread->problem);
		if (thread->status == RCORE_THREAD_STATUS_UNKNOWN)
			finding(findings, "thread status", "%s", thread->id);
		check_current(findings, snapshot, thread);
	}
	for (size_t i = 0; i < snapshot->other_count; i++)
		if (snapshot->others[i].native_problem)
			finding(findings, "native problem", "kernel thread %d: %s",
				snapshot->others[i].tid, snapshot->others[i].native_problem);
}

static void check_frames(struct findings *findings, const struct rcore_fiber *fiber)
{
	if (fiber->frames_truncated)
		finding(findings, "frame limit", "%s", fiber->id);
	for (size_t i = 0; i < fiber->frame_count; i++) {
		const struct rcore_frame *frame = &fiber->frames[i];
		/* A frame that is being filled shows nothing yet. */
		bool is_new = !i && frame->under_construction && !frame->problem;
		if (frame->problem || (frame->kind == RCORE_FRAME_BROKEN && !is_new))
			finding(findings, "frame problem", "%s cfp 0x%" PRIx64 ": %s",
				fiber->id, frame->cfp, frame->problem ? frame->problem : "?");
		else if (frame->kind == RCORE_FRAME_RUBY && (!frame->label || !frame->path))
			finding(findings, "no label", "%s cfp 0x%" PRIx64, fiber->id,
				frame->cfp);
	}
	for (size_t i = 0; i < fiber->native_count; i++)
		if (fiber->native[i].trust == RCORE_TRUST_SCANNED) {
			finding(findings, "(scanned)", "%s native frame %zu", fiber->id, i);
			break;
		}
}

/* Each frame occurs once, in order, and there is no gap. */
static void check_steps(struct findings *findings, const struct rcore_fiber *fiber)
{
	int native = 0, ruby = 0;
	bool ordered = true;
	for (size_t i = 0; i < fiber->step_count; i++) {
		const struct rcore_step *step = &fiber->steps[i];
		if (step->kind == RCORE_STEP_GAP)
			finding(findings, "gap", "%s: %s", fiber->id, step->reason);
		else if (step->kind == RCORE_STEP_NATIVE)
			ordered &= step->index == native++;
		else
			ordered &= step->index == ruby++;
	}
	if (fiber->step_count &&
	    (!ordered || native != (int)fiber->native_count || ruby != (int)fiber->frame_count))
		finding(findings, "woven order", "%s", fiber->id);
}

/* What starts the interpreter is outside of all it runs. */
static bool is_start(const struct rcore_native_frame *frame)
{
	static const char *const names[] = {"_start",
					    "main",
					    "__libc_start_main",
					    "__libc_start_main_impl",
					    "ruby_run_node",
					    "ruby_exec_node",
					    "clone",
					    "clone3",
					    "start_thread"};
	for (size_t i = 0; frame->function && i < RCORE_COUNT(names); i++)
		if (!strcmp(frame->function, names[i]))
			return true;
	return false;
}

static void check_start(struct findings *findings, const struct rcore_fiber *fiber)
{
	bool started = false;
	for (size_t i = 0; i < fiber->step_count; i++) {
		const struct rcore_step *step = &fiber->steps[i];
		/* A thread that makes another one is in clone() itself. */
		started |= step->kind == RCORE_STEP_NATIVE && step->index &&
			   is_start(&fiber->native[step->index]);
		if (!started || step->kind != RCORE_STEP_RUBY ||
		    fiber->frames[step->index].kind == RCORE_FRAME_DUMMY)
			continue;
		finding(findings, "outside the start", "%s: %s", fiber->id,
			fiber->frames[step->index].label);
		return;
	}
}

static void check_fiber(struct findings *findings, const struct rcore_fiber *fiber)
{
	if (fiber->problem)
		finding(findings, "fiber problem", "%s: %s", fiber->id, fiber->problem);
	if (fiber->native_problem)
		finding(findings, "native problem", "%s: %s", fiber->id, fiber->native_problem);
	if (fiber->status == RCORE_FIBER_STATUS_UNKNOWN)
		finding(findings, "fiber status", "%s is unknown", fiber->id);
	if (fiber->tid && !fiber->native_count)
		finding(findings, "no native stack", "%s", fiber->id);
	check_frames(findings, fiber);
	check_steps(findings, fiber);
	check_start(findings, fiber);
}

void check_state(struct findings *findings, const struct rcore_snapshot *snapshot,
		 const char *layout)
{
	check_whole(findings, snapshot, layout);
	check_threads(findings, snapshot);
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		check_fiber(findings, &snapshot->fibers[i]);
	if (snapshot->incomplete)
		finding(findings, "incomplete", "%s", snapshot->ruby_version);
}

void check_fields(struct findings *findings, const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->field_check_count; i++)
		if (snapshot->field_checks[i].state == RCORE_FIELD_WRONG)
			finding(findings, "field", "%s.%s is called wrong",
				snapshot->field_checks[i].group, snapshot->field_checks[i].id);
}
