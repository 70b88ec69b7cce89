/* SPDX-License-Identifier: MIT */
#include "session/stacks.h"

/* Copies a string to the snapshot, which outlives the session. */
static const char *copy(struct rcore_arena *arena, const char *text, bool *no_memory)
{
	const char *copied = rcore_arena_copy(arena, text);
	*no_memory |= text && !copied;
	return copied;
}

static struct rcore_error *unpack_one(const struct rcore_packed_stack *packed,
				      struct rcore_arena *arena,
				      struct rcore_unwind_context *context)
{
	bool no_memory = false;
	context->frames =
		rcore_arena_array(arena, packed->frame_count, sizeof(*context->frames));
	if (!context->frames)
		return rcore_error_no_memory();
	for (size_t i = 0; i < packed->frame_count; i++) {
		struct rcore_native_frame *frame = &context->frames[i];
		*frame = packed->frames[i];
		frame->function = copy(arena, frame->function, &no_memory);
		frame->module = copy(arena, frame->module, &no_memory);
		frame->gem = copy(arena, frame->gem, &no_memory);
		frame->file = copy(arena, frame->file, &no_memory);
	}
	context->frame_count = packed->frame_count;
	context->problem = copy(arena, packed->problem, &no_memory);
	return no_memory ? rcore_error_no_memory() : NULL;
}

/*
 * Returns the stack of a kernel thread or of a fiber, or NULL if the pack has
 * none.
 */
static const struct rcore_packed_stack *find(const struct rcore_pack_facts *pack, size_t *next,
					     int tid, uint64_t fiber)
{
	for (size_t i = 0; i < pack->stack_count; i++) {
		/*
		 * Callers ask for them roughly in the order in which they are
		 * stored.
		 */
		size_t index = (*next + i) % pack->stack_count;
		const struct rcore_packed_stack *stack = &pack->stacks[index];
		if (fiber ? stack->fiber == fiber : !stack->fiber && stack->tid == tid) {
			*next = index + 1;
			return stack;
		}
	}
	return NULL;
}

/* Uses the stacks that rcore found on the machine that wrote the pack. */
struct rcore_error *rcore_stacks_unpack(struct rcore_stacks *stacks,
					const struct rcore_target *target,
					struct rcore_snapshot *snapshot)
{
	size_t thread = 0, next = 0;
	const struct rcore_process *process = target->process;
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < stacks->count && !err; i++) {
		const struct rcore_packed_stack *packed;
		if (i >= stacks->kernel_count) {
			packed = find(target->pack, &next, 0,
				      snapshot->fibers[stacks->owners[i].fiber].address);
		} else {
			while (!process->threads[thread].has_registers)
				thread++;
			packed = find(target->pack, &next, process->threads[thread++].tid, 0);
		}
		if (packed)
			err = unpack_one(packed, &snapshot->arena, &stacks->contexts[i]);
	}
	return err;
}
