/* SPDX-License-Identifier: MIT */
#include "base/hot.h"
#include "sampler/code_private.h"
#include "sampler/sampler_private.h"
#include "ruby/iseq/frame_flags.h"

/*
 * Reads the environments in the heap to which the frames of a stack point, with
 * one system call. A block and the methods around it, which are most often
 * further out in the same stack, lead to a method entry in as many steps, and
 * each would be a system call.
 */
static RCORE_HOT void add(struct rcore_environments *read, uint64_t address)
{
	if (read->count == RCORE_ENVIRONMENTS || address % sizeof(address))
		return;
	read->ranges[read->count] = (struct rcore_live_range){
		.start = address,
		.size = sizeof(read->words[read->count]),
		.bytes = (uint8_t *)read->words[read->count],
	};
	read->count++;
}

/*
 * vm_make_env_each() leaves the new rb_env_t in place of the flags of an
 * environment that it moves to the heap. Environments inside may still point to
 * the old place (follow_escape() of ruby/iseq/env.c).
 */
static RCORE_HOT void add_moved(struct rcore_environments *read,
				const struct rcore_stack *stack, uint64_t ep)
{
	uint64_t flags, outer;
	if (!rcore_stack_value(stack, ep, &flags))
		return;
	if (!(flags & RCORE_ENV_IS_FLAGS)) {
		add(read, flags);
		return;
	}
	if (flags & RCORE_ENV_LOCAL || !rcore_stack_value(stack, ep - sizeof(ep), &outer))
		return;
	outer &= ~(uint64_t)RCORE_ENV_OUTER_TAG;
	if (rcore_stack_value(stack, outer, &flags) && !(flags & RCORE_ENV_IS_FLAGS))
		add(read, flags);
}

RCORE_HOT void rcore_sampler_read_environments(struct rcore_sampler *sampler,
					       const struct rcore_stack *stack, size_t from,
					       size_t count)
{
	enum { BELOW_EP = 2 };
	const struct rcore_layout *layout = sampler->layout;
	struct rcore_environments *read = &sampler->environments;
	size_t step = layout->cfp.size;
	uint64_t flags;
	bool is_needed = false;
	read->count = 0;
	for (size_t i = 0; i < count && read->count < RCORE_ENVIRONMENTS; i++) {
		const uint8_t *frame = rcore_stack_frame(stack, stack->top - (i + 2) * step);
		uint64_t ep = rcore_code_frame_field(frame, layout, &layout->cfp.ep);
		size_t before = read->count;
		if (rcore_stack_value(stack, ep, &flags))
			add_moved(read, stack, ep);
		else
			add(read, ep - BELOW_EP * sizeof(ep));
		is_needed |= i >= from && read->count > before;
	}
	if (!is_needed)
		return;
	rcore_live_read(sampler->live, read->ranges, read->count);
	sampler->copies.others = read->ranges;
	sampler->copies.other_count = read->count;
}

void rcore_sampler_end_environments(struct rcore_sampler *sampler)
{
	sampler->copies.others = NULL;
	sampler->copies.other_count = 0;
}
