/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "sampler/native/native_private.h"
#include "session/weave.h"

/*
 * Unwinds the machine stack of a record of the BPF program. The program has
 * copied the registers and the stack at one moment, with the control frames, so
 * the process need not be stopped.
 */

/*
 * Frames of one record. A copy has room for some thousands of the smallest
 * frames, and rcore must keep up with the records.
 */
enum { FRAMES_MAX = 1024 };

static enum rcore_thread_status status_of(const struct rcore_sampler *sampler,
					  const struct rcore_bpf_record *record)
{
	struct rcore_field field = sampler->layout->thread.status;
	uint64_t value = 0;
	bool is_known = record->thread && rcore_has_place(&field);
	field.offset = 0;
	if (is_known)
		is_known = rcore_field_of((const uint8_t *)&record->status,
					  sizeof(record->status), &field, &value);
	return is_known ? (enum rcore_thread_status)value : RCORE_THREAD_RUNNABLE;
}

/* A snapshot of one thread and its current fiber. NULL: memory is short. */
static struct rcore_snapshot *describe(struct rcore_sampler *sampler,
				       const struct rcore_bpf_record *record)
{
	struct rcore_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		return NULL;
	snapshot->threads = rcore_arena_array(&snapshot->arena, 1, sizeof(*snapshot->threads));
	snapshot->fibers = rcore_arena_array(&snapshot->arena, 1, sizeof(*snapshot->fibers));
	if (!snapshot->threads || !snapshot->fibers) {
		rcore_snapshot_free(snapshot);
		return NULL;
	}
	snapshot->thread_count = snapshot->fiber_count = 1;
	snapshot->threads[0] = (struct rcore_thread){
		.address = record->thread,
		.tid = (int)record->tid,
		.status = status_of(sampler, record),
		.ractor = -1,
	};
	struct rcore_fiber *fiber = &snapshot->fibers[0];
	*fiber = (struct rcore_fiber){
		.resumed_by = -1,
		.resuming = -1,
		.group = -1,
		.is_current = true,
		.status = RCORE_FIBER_RESUMED,
		.tid = (int)record->tid,
	};
	if (!record->ec)
		return snapshot;
	fiber->ec = record->ec;
	fiber->address = record->ec - (uint64_t)sampler->layout->fiber.saved_ec.offset;
	fiber->vm_stack = record->bottom;
	fiber->vm_stack_size = record->top - record->bottom;
	fiber->machine_stack = rcore_bpf_machine(record)->fiber_stack;
	fiber->machine_stack_size = rcore_bpf_machine(record)->fiber_stack_size;
	fiber->stack_base = rcore_bpf_machine(record)->stack_start;
	return snapshot;
}

/* Lets the session read the thread of the record. */
static struct rcore_error *aim(struct rcore_native *native,
			       const struct rcore_bpf_record *record)
{
	struct rcore_code *code;
	struct rcore_target *target = &native->session->target;
	struct rcore_native_thread *thread = &native->thread;
	if (target->process != &native->process) {
		native->process = *rcore_live_process(target->live);
		native->process.threads = thread;
		native->process.thread_count = 1;
		target->process = &native->process;
	}
	*thread = (struct rcore_native_thread){
		.tid = (int)record->tid,
		.has_registers = true,
		.register_count = RCORE_BPF_REGISTERS,
	};
	memcpy(thread->registers, rcore_bpf_machine(record)->registers,
	       sizeof(thread->registers));
	/* Unwinding needs none of those that the record lacks. */
	if (thread->register_count > rcore_register_count(native->process.machine))
		thread->register_count = rcore_register_count(native->process.machine);
	struct rcore_error *err = rcore_target_code(target, &code);
	if (!err)
		rcore_code_limit(code, FRAMES_MAX);
	return err;
}

static struct rcore_error *weave(struct rcore_sampler *sampler, struct rcore_snapshot *snapshot,
				 const struct rcore_track *track)
{
	struct rcore_native *native = sampler->native;
	struct rcore_fiber *fiber = &snapshot->fibers[0];
	const struct rcore_moment moment = {.snapshot = snapshot};
	snapshot->activation = native->activation;
	if (track && track->count) {
		fiber->frames = rcore_sampler_frames(sampler, track, track->count,
						     &snapshot->arena, &fiber->frame_count);
		if (!fiber->frames)
			return rcore_error_no_memory();
	}
	return rcore_session_weave(&native->session->target, native->located, &moment,
				   &native->callers);
}

/* Whether a part of the stack, or all of it, is missing. */
static bool is_cut(const struct rcore_fiber *fiber)
{
	return rcore_fiber_has_gap(fiber) || !fiber->step_count ||
	       (!fiber->frame_count && fiber->native_problem);
}

struct rcore_error *rcore_native_begin_records(struct rcore_sampler *sampler, uint64_t now)
{
	struct rcore_native *native = sampler->native;
	if (!native)
		return NULL;
	struct rcore_error *err = rcore_native_follow(sampler, now);
	/* Code that a JIT has added since. */
	if (!err && native->session)
		rcore_live_forget(native->session->target.live);
	return err;
}

struct rcore_error *rcore_native_add(struct rcore_sampler *sampler,
				     const struct rcore_bpf_record *record,
				     const struct rcore_track *track, bool in_gc,
				     uint32_t *node)
{
	struct rcore_native *native = sampler->native;
	if (!native)
		return NULL;
	sampler->statistics.unwound++;
	if (!native->session || !rcore_stack_copy_set(&native->copy, record)) {
		sampler->statistics.not_unwound++;
		return NULL;
	}
	struct rcore_snapshot *snapshot = describe(sampler, record);
	struct rcore_error *err = snapshot ? NULL : rcore_error_no_memory();
	if (!err)
		err = rcore_error_forgive(aim(native, record));
	if (!err)
		err = rcore_error_forgive(weave(sampler, snapshot, track));
	if (!err) {
		const struct rcore_fiber *fiber = &snapshot->fibers[0];
		sampler->statistics.not_unwound += is_cut(fiber);
		if (fiber->step_count)
			*node = rcore_native_woven_node(sampler, track, fiber, in_gc);
	}
	rcore_stack_copy_set(&native->copy, NULL);
	rcore_snapshot_free(snapshot);
	return err;
}
