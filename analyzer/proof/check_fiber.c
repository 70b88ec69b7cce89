/* SPDX-License-Identifier: MIT */
/* Fibers, and the list that JIT compilers use to find them. */
#include "proof/check.h"
#include "proof/fiber_state.h"

/* enum context_type: a continuation or a fiber */
CHECK(fiber_type)
{
	return verdict_of(leads(s, base, field, 1));
}

CHECK(fiber_saved_ec)
{
	return verdict_of(leads(s, member(base, field), &layout_of(s)->ec.fiber_ptr, base));
}

CHECK(fiber_jit_cont)
{
	uint64_t node;
	if (!layout_of(s)->traits.fibers_listed)
		return RCORE_SILENT;
	return verdict_of(get(s, base, field, &node) &&
			  leads(s, node, &layout_of(s)->jit_cont.ec,
				member(base, &layout_of(s)->fiber.saved_ec)));
}

/* in 3.0 a Fiber object */
CHECK(fiber_resuming)
{
	uint64_t value, fiber;
	if (!layout_of(s)->traits.resuming_object)
		return rcore_check_a_fiber(s, base, field);
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (!value)
		return RCORE_SILENT;
	return verdict_of(rcore_is_nil(s->ruby, value) ||
			  (is_object(s, value, TYPE(DATA)) &&
			   get(s, value, &layout_of(s)->data.data, &fiber) &&
			   is_fiber(s, fiber)));
}

/* The samples are the current fibers of threads. */
CHECK(fiber_status)
{
	return verdict_of(rcore_fiber_can_run(s->ruby, base, field));
}

/* Bit-fields of the word that begins with the fiber's status. */
CHECK(fiber_flags)
{
	enum { KNOWN_BITS = 7 };
	struct rcore_field word = {.offset = layout_of(s)->fiber.status.offset,
				   .size = sizeof(uint32_t)};
	uint64_t value;
	if (field->offset != word.offset || !get(s, base, &word, &value) || value >> KNOWN_BITS)
		return RCORE_FAILS;
	return value ? RCORE_HOLDS : RCORE_SILENT;
}

/* Where the fiber left its stack, if it has left it once. */
CHECK(fiber_stack_pointer)
{
	uint64_t sp;
	if (!get(s, base, field, &sp))
		return RCORE_FAILS;
	return sp ? rcore_check_stack_address(s, member(base, &layout_of(s)->fiber.saved_ec),
					      sp)
		  : RCORE_SILENT;
}

/* Every fiber except a root fiber has a machine stack of its own. */
CHECK(fiber_stack)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t low, size, start;
	if (!get(s, base, &layout->fiber.stack_base, &low))
		return RCORE_FAILS;
	if (!low)
		return RCORE_SILENT;
	/*
	 * fiber_prepare_stack() sets it when it sets the bounds in the fiber's
	 * EC.
	 */
	if (leads(s, base, &layout->fiber.status, RCORE_FIBER_CREATED))
		return RCORE_SILENT;
	if (!get(s, base, &layout->fiber.stack_size, &size) ||
	    !get(s, member(base, &layout->fiber.saved_ec), &layout->ec.machine_stack_start,
		 &start))
		return RCORE_FAILS;
	return rcore_check_stack_start(s, start) ? verdict_of(within_stack(start, size, low))
						 : RCORE_SILENT;
}

/*
 * The available part of the stack is not larger than the stack.
 * fiber_pool_stack_acquire() copies both into a fiber, word by word, before a
 * thread switches to the fiber.
 */
CHECK(fiber_stack_available)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t start, size, available;
	if (!get(s, base, &layout->fiber.stack_base, &start) ||
	    !get(s, base, &layout->fiber.stack_size, &size) || !get(s, base, field, &available))
		return RCORE_FAILS;
	if (!start)
		return RCORE_SILENT;
	if (available && available <= size)
		return RCORE_HOLDS;
	return leads(s, base, &layout->fiber.status, RCORE_FIBER_CREATED) ? RCORE_SILENT
									  : RCORE_FAILS;
}

CHECK(jit_cont_ec)
{
	uint64_t ec, fiber;
	return verdict_of(get(s, base, field, &ec) &&
			  get(s, ec, &layout_of(s)->ec.fiber_ptr, &fiber) &&
			  is_fiber(s, fiber));
}

static enum rcore_verdict neighbour(const struct rcore_samples *s, uint64_t base,
				    const struct rcore_field *field,
				    const struct rcore_field *back)
{
	uint64_t other;
	if (!get(s, base, field, &other))
		return RCORE_FAILS;
	return other ? verdict_of(leads(s, other, back, base)) : RCORE_SILENT;
}

CHECK(jit_cont_prev)
{
	return neighbour(s, base, field, &layout_of(s)->jit_cont.next);
}

CHECK(jit_cont_next)
{
	return neighbour(s, base, field, &layout_of(s)->jit_cont.prev);
}
