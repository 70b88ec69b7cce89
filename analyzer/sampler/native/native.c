/* SPDX-License-Identifier: MIT */
#include "sampler/native/native.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hot.h"
#include "sampler/native/native_private.h"
#include "session/live/running.h"
#include "session/weave.h"
#include "target/live/live_files.h"
#include "target/live/live_tracer.h"

/* Counts a tick that could not stop the process, and finds its tracer. */
static void count_failure(struct rcore_sampler *sampler)
{
	struct rcore_sampler_statistics *statistics = &sampler->statistics;
	struct rcore_live_status status;
	statistics->not_stopped++;
	if (statistics->tracer)
		return;
	statistics->tracer = rcore_live_tracer(rcore_live_folder(sampler->live));
	if (statistics->tracer && rcore_live_status_of(statistics->tracer, &status))
		snprintf(statistics->tracer_name, sizeof(statistics->tracer_name), "%.31s",
			 status.name);
}

RCORE_HOT struct rcore_error *rcore_native_hold(struct rcore_sampler *sampler, uint64_t now)
{
	struct rcore_native *native = sampler->native;
	if (!native)
		return NULL;
	rcore_snapshot_free(native->snapshot);
	native->snapshot = NULL;
	struct rcore_error *err = rcore_native_follow(sampler, now);
	if (err || !native->session) {
		count_failure(sampler);
		return err;
	}
	native->session->target.process = rcore_live_process(native->session->target.live);
	rcore_live_forget(native->session->target.live);
	err = rcore_live_begin(native->session->target.live, true);
	native->is_held = !err;
	if (err)
		count_failure(sampler);
	/*
	 * A debugger holds it, or it has ended: the following reads will report
	 * that.
	 */
	rcore_error_free(err);
	return NULL;
}

RCORE_HOT void rcore_native_let_go(struct rcore_sampler *sampler)
{
	struct rcore_native *native = sampler->native;
	struct rcore_live_pause pause;
	if (!native || !native->is_held)
		return;
	native->is_held = false;
	rcore_live_end(native->session->target.live, &pause);
	sampler->statistics.not_stopped += pause.unstopped_count;
	if (pause.overdue) {
		/* It ran while its stacks were copied: they may be torn. */
		rcore_snapshot_free(native->snapshot);
		native->snapshot = NULL;
		sampler->statistics.not_stopped++;
		return;
	}
	sampler->statistics.stopped++;
	sampler->statistics.stopped_ns += pause.nanoseconds;
	if (pause.nanoseconds > sampler->statistics.longest_stop_ns)
		sampler->statistics.longest_stop_ns = pause.nanoseconds;
}

static uint64_t word_at(const struct rcore_sampler *sampler, uint64_t address,
			const struct rcore_field *field)
{
	uint64_t value = 0;
	if (!rcore_has_place(field) ||
	    rcore_read_field(rcore_live_bare_memory(sampler->live), address, field, &value))
		return 0;
	return value;
}

/* What unwinding needs to know about a thread besides its frames. */
static void describe(struct rcore_sampler *sampler, size_t index,
		     struct rcore_snapshot *snapshot)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_sampled_thread *sampled = sampler->threads.items[index];
	const struct rcore_stack *stack = &sampled->track.stack;
	uint64_t address = stack->ec - (uint64_t)layout->fiber.saved_ec.offset;
	snapshot->threads[index] = (struct rcore_thread){
		.address = sampled->address,
		.tid = sampled->inner_tid,
		.status = (enum rcore_thread_status)rcore_piece_field(
			&stack->pieces[RCORE_PIECE_THREAD], &layout->thread.status),
		.ractor = -1,
		.current_fiber = stack->ec ? (int)index : -1,
	};
	struct rcore_fiber *fiber = &snapshot->fibers[index];
	*fiber = (struct rcore_fiber){
		.thread = (int)index,
		.resumed_by = -1,
		.resuming = -1,
		.group = -1,
		.is_current = true,
		.status = RCORE_FIBER_RESUMED,
	};
	if (!stack->ec)
		return;
	fiber->address = address;
	fiber->ec = stack->ec;
	fiber->tid = sampled->inner_tid;
	fiber->vm_stack = stack->bottom;
	fiber->vm_stack_size = stack->top - stack->bottom;
	fiber->machine_stack = word_at(sampler, address, &layout->fiber.stack_base);
	fiber->machine_stack_size = word_at(sampler, address, &layout->fiber.stack_size);
	fiber->stack_base = word_at(sampler, stack->ec, &layout->ec.machine_stack_start);
}

static struct rcore_snapshot *new_snapshot(const struct rcore_sampler *sampler)
{
	size_t count = sampler->threads.count;
	struct rcore_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		return NULL;
	snapshot->threads =
		rcore_arena_array(&snapshot->arena, count, sizeof(*snapshot->threads));
	snapshot->fibers =
		rcore_arena_array(&snapshot->arena, count, sizeof(*snapshot->fibers));
	if (!snapshot->threads || !snapshot->fibers) {
		rcore_snapshot_free(snapshot);
		return NULL;
	}
	snapshot->thread_count = snapshot->fiber_count = count;
	return snapshot;
}

RCORE_HOT struct rcore_error *rcore_native_keep(struct rcore_sampler *sampler)
{
	struct rcore_native *native = sampler->native;
	if (!native || !native->is_held)
		return NULL;
	native->snapshot = new_snapshot(sampler);
	if (!native->snapshot)
		return rcore_error_no_memory();
	for (size_t i = 0; i < sampler->threads.count; i++)
		describe(sampler, i, native->snapshot);
	return rcore_running_keep_stacks(&native->session->target, native->snapshot);
}

RCORE_HOT struct rcore_error *rcore_native_weave(struct rcore_sampler *sampler)
{
	struct rcore_native *native = sampler->native;
	struct rcore_snapshot *snapshot = native ? native->snapshot : NULL;
	if (!snapshot)
		return NULL;
	const struct rcore_moment moment = {.snapshot = snapshot};
	snapshot->activation = native->activation;
	for (size_t i = 0; i < sampler->threads.count; i++) {
		const struct rcore_track *track = &sampler->threads.items[i]->track;
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		fiber->frames = rcore_sampler_frames(sampler, track, track->count,
						     &snapshot->arena, &fiber->frame_count);
		if (!fiber->frames)
			return rcore_error_no_memory();
	}
	return rcore_error_forgive(rcore_session_weave(
		&native->session->target, native->located, &moment, &native->callers));
}
