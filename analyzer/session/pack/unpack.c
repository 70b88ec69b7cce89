/* SPDX-License-Identifier: MIT */
#include "base/address_map.h"
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

/* The stacks of a pack. A hostile one may list very many. */
struct index {
	struct rcore_address_map threads, fibers; /* by tid, and by address */
};

static bool fill(struct index *index, const struct rcore_pack_facts *pack)
{
	for (size_t i = 0; i < pack->stack_count; i++) {
		const struct rcore_packed_stack *stack = &pack->stacks[i];
		bool fine = stack->fiber
				    ? rcore_address_map_put_first(&index->fibers, stack->fiber,
								  (int)i)
				    : rcore_address_map_put_first(&index->threads,
								  (uint64_t)stack->tid, (int)i);
		if (!fine)
			return false;
	}
	return true;
}

/* Uses the stacks that rcore found on the machine that wrote the pack. */
struct rcore_error *rcore_stacks_unpack(struct rcore_stacks *stacks,
					const struct rcore_target *target,
					struct rcore_snapshot *snapshot)
{
	size_t thread = 0;
	const struct rcore_process *process = target->process;
	struct index index = {0};
	struct rcore_error *err = fill(&index, target->pack) ? NULL : rcore_error_no_memory();
	for (size_t i = 0; i < stacks->count && !err; i++) {
		int found;
		if (i >= stacks->kernel_count) {
			found = rcore_address_map_get(
				&index.fibers,
				snapshot->fibers[stacks->owners[i].fiber].address);
		} else {
			while (!process->threads[thread].has_registers)
				thread++;
			found = rcore_address_map_get(&index.threads,
						      (uint64_t)process->threads[thread++].tid);
		}
		if (found >= 0)
			err = unpack_one(&target->pack->stacks[found], &snapshot->arena,
					 &stacks->contexts[i]);
	}
	rcore_address_map_deinit(&index.threads);
	rcore_address_map_deinit(&index.fibers);
	return err;
}
