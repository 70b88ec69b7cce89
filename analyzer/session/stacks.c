/* SPDX-License-Identifier: MIT */
#include "session/stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/address_map.h"
#include "base/grow.h"
#include "base/text.h"
#include "image/unwind/parked.h"
#include "vm/problem.h"

/* The fibers and other threads of a snapshot, by the ids of their threads. */
struct index {
	struct rcore_address_map fibers, others;
};

/* A fiber that runs on its thread comes before those that do not. */
static bool fill(struct index *index, const struct rcore_snapshot *snapshot)
{
	bool fine = true;
	for (size_t i = 0; i < snapshot->thread_count && fine; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		if (!thread->is_ended && thread->current_fiber >= 0 &&
		    snapshot->fibers[thread->current_fiber].tid == thread->tid)
			fine = rcore_address_map_put_first(
				&index->fibers, (uint64_t)thread->tid, thread->current_fiber);
	}
	for (size_t i = 0; i < snapshot->fiber_count && fine; i++)
		fine = rcore_address_map_put_first(&index->fibers,
						   (uint64_t)snapshot->fibers[i].tid, (int)i);
	for (size_t i = 0; i < snapshot->other_count && fine; i++)
		fine = rcore_address_map_put_first(&index->others,
						   (uint64_t)snapshot->others[i].tid, (int)i);
	return fine;
}

static void deinit(struct index *index)
{
	rcore_address_map_deinit(&index->fibers);
	rcore_address_map_deinit(&index->others);
}

/*
 * Since 2.7, a fiber's VM stack is above its machine stack, in one piece of
 * memory (fiber_initialize_coroutine() of cont.c).
 */
static void bound(struct rcore_unwind_context *context, const struct rcore_snapshot *snapshot,
		  const struct rcore_fiber *fiber)
{
	bool is_killed = fiber->thread >= 0 &&
			 snapshot->threads[fiber->thread].status == RCORE_THREAD_KILLED;
	context->stack_start = fiber->machine_stack;
	context->stack_end = fiber->machine_stack + fiber->machine_stack_size;
	if (fiber->vm_stack - fiber->machine_stack < fiber->machine_stack_size)
		context->stack_end = fiber->vm_stack;
	context->stack_base = fiber->stack_base;
	context->ec = fiber->ec;
	context->is_ending = is_killed && !fiber->machine_stack && !fiber->stack_base;
}

static void add_kernel_threads(const struct rcore_process *process, const struct index *index,
			       const struct rcore_snapshot *snapshot,
			       struct rcore_stacks *stacks)
{
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		if (!thread->has_registers)
			continue;
		struct rcore_unwind_context *context = &stacks->contexts[stacks->count];
		struct rcore_stack_owner *owner = &stacks->owners[stacks->count++];
		*owner = (struct rcore_stack_owner){
			rcore_address_map_get(&index->fibers, (uint64_t)thread->tid),
			rcore_address_map_get(&index->others, (uint64_t)thread->tid)};
		for (int j = 0; j < thread->register_count; j++)
			context->registers[j] = thread->registers[j];
		context->known = (UINT64_C(1) << thread->register_count) - 1;
		if (owner->fiber >= 0)
			bound(context, snapshot, &snapshot->fibers[owner->fiber]);
	}
}

bool rcore_parked_fiber(const struct rcore_target *target, const struct rcore_traits *traits,
			const struct rcore_fiber *fiber, struct rcore_unwind_context *ret)
{
	enum rcore_coroutine coroutine =
		traits->coroutine_link ? RCORE_COROUTINE_LINK : RCORE_COROUTINE_PC_SLOT;
	return fiber->is_parked &&
	       rcore_parked_registers(target->memory, target->process->machine,
				      fiber->stack_pointer, coroutine, ret);
}

static bool switched_away(const struct rcore_fiber *fiber)
{
	return fiber->status == RCORE_FIBER_SUSPENDED && !fiber->is_current &&
	       fiber->machine_stack;
}

/*
 * Whether the saved stack pointer is in the fiber's machine stack. The
 * rb_fiber_t itself never is.
 */
static bool is_on_own_stack(const struct rcore_fiber *fiber)
{
	return fiber->stack_pointer - fiber->machine_stack < fiber->machine_stack_size &&
	       fiber->address - fiber->machine_stack >= fiber->machine_stack_size;
}

/*
 * A native coroutine saves the stack pointer in its first word. Other
 * implementations have something else there, or nothing, and their stacks
 * cannot be unwound.
 */
static void leave_other_coroutines(struct rcore_snapshot *snapshot)
{
	size_t lost = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (switched_away(fiber) && is_on_own_stack(fiber))
			return;
		lost += switched_away(fiber);
	}
	if (!lost)
		return;
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (switched_away(&snapshot->fibers[i]))
			snapshot->fibers[i].is_parked = false;
	rcore_problem_add(
		snapshot,
		rcore_error_create(
			RCORE_ERROR_UNSUPPORTED,
			"native frames of %zu parked fiber%s are missing: no fiber has a "
			"stack pointer where native coroutines save it; was this "
			"Ruby built --with-coroutine=ucontext or =pthread?",
			lost, rcore_plural(lost)));
}

static void add_parked(const struct rcore_target *target, const struct rcore_traits *traits,
		       struct rcore_snapshot *snapshot, struct rcore_stacks *stacks)
{
	leave_other_coroutines(snapshot);
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		struct rcore_unwind_context *context = &stacks->contexts[stacks->count];
		if (!rcore_parked_fiber(target, traits, fiber, context)) {
			if (fiber->is_parked)
				fiber->native_problem = rcore_arena_printf(
					&snapshot->arena,
					"its registers, saved at 0x%" PRIx64 ", cannot be read",
					fiber->stack_pointer);
			continue;
		}
		bound(context, snapshot, fiber);
		stacks->owners[stacks->count++] = (struct rcore_stack_owner){(int)i, -1};
	}
}

/*
 * Notes the first pages of each stack, which unwinding will read, so that a
 * core on the disk is read in the order of the file.
 */
static void fetch(const struct rcore_target *target, const struct rcore_snapshot *snapshot)
{
	/* Bytes; the rest of a deep stack is read when it is unwound. */
	enum { MOST = 16 << 10 };
	const struct rcore_process *process = target->process;
	const int sp = rcore_register_sp(process->machine);
	if (!rcore_core_is_read_ahead(target->core))
		return;
	for (size_t i = 0; i < process->thread_count; i++) {
		uint64_t start = process->threads[i].registers[sp];
		if (start <= UINT64_MAX - MOST)
			rcore_core_keep(target->core, start, start + MOST);
	}
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		struct rcore_unwind_context context;
		bound(&context, snapshot, fiber);
		uint64_t start = fiber->stack_pointer, end = context.stack_end;
		if (fiber->is_parked && start < end)
			rcore_core_keep(target->core, start,
					end - start > MOST ? start + MOST : end);
	}
	rcore_core_fetch(target->core);
}

struct rcore_error *rcore_stacks_init(struct rcore_stacks *stacks,
				      const struct rcore_target *target,
				      const struct rcore_traits *traits,
				      struct rcore_snapshot *snapshot)
{
	size_t most = target->process->thread_count + snapshot->fiber_count;
	*stacks = (struct rcore_stacks){
		.contexts = rcore_calloc(most, sizeof(*stacks->contexts)),
		.owners = rcore_calloc(most, sizeof(*stacks->owners)),
	};
	if (!stacks->contexts || !stacks->owners)
		return rcore_error_no_memory();
	struct index index = {0};
	bool fine = fill(&index, snapshot);
	if (fine) {
		fetch(target, snapshot);
		add_kernel_threads(target->process, &index, snapshot, stacks);
		stacks->kernel_count = stacks->count;
		add_parked(target, traits, snapshot, stacks);
	}
	deinit(&index);
	return fine ? NULL : rcore_error_no_memory();
}

void rcore_stacks_deinit(struct rcore_stacks *stacks)
{
	free(stacks->contexts);
	free(stacks->owners);
}

void rcore_stacks_hand_out(const struct rcore_stacks *stacks, struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < stacks->count; i++) {
		const struct rcore_unwind_context *context = &stacks->contexts[i];
		const struct rcore_stack_owner *owner = &stacks->owners[i];
		if (owner->fiber >= 0) {
			struct rcore_fiber *fiber = &snapshot->fibers[owner->fiber];
			fiber->native = context->frames;
			fiber->native_count = context->frame_count;
			fiber->native_problem = context->problem;
		}
		if (owner->other >= 0) {
			struct rcore_other_thread *other = &snapshot->others[owner->other];
			other->native = context->frames;
			other->native_count = context->frame_count;
			other->native_problem = context->problem;
		}
	}
}
