/* SPDX-License-Identifier: MIT */
#include "proof/fiber_state.h"

#include "model/snapshot.h"

/*
 * A switch of fibers (cont.c) goes through these states. `old` is the fiber
 * that the thread leaves, `new` the one that it enters:
 *
 *                                       th->ec     old         new
 *   fiber_switch()                      old        RESUMED     (1)
 *   fiber_store()                       old        SUSPENDED   (1)
 *                                       old        SUSPENDED   RESUMED
 *   fiber_setcontext(), up to 3.0:
 *     ec_switch(), coroutine_transfer() new        SUSPENDED   RESUMED
 *   fiber_setcontext(), from 3.1 on:
 *     coroutine_transfer(), ec_switch() old, new   SUSPENDED   RESUMED
 *
 *   (1) CREATED or SUSPENDED
 *
 * From rb_fiber_terminate() on, a fiber that ends is TERMINATED instead of
 * SUSPENDED. It keeps its stacks until th->ec is the next fiber's. A thread has
 * a root_fiber before it first leaves a fiber. The root fiber of a thread that
 * ends is TERMINATED and has lost its VM stack
 * (rb_threadptr_root_fiber_terminate()).
 */

static bool get(struct rcore_ruby *ruby, uint64_t base, const struct rcore_field *field,
		uint64_t *ret)
{
	return base && rcore_has(field) && !rcore_read_field(ruby->memory, base, field, ret);
}

/* The bits above those that a release uses must be zero. */
static bool read_status(struct rcore_ruby *ruby, uint64_t fiber,
			const struct rcore_field *field, uint64_t *ret)
{
	enum { KNOWN_BITS = 7 };
	struct rcore_field word = {.offset = field->offset, .size = sizeof(uint32_t)};
	uint64_t value;
	return get(ruby, fiber, &word, &value) && !(value >> KNOWN_BITS) &&
	       get(ruby, fiber, field, ret);
}

static bool thread_ends(struct rcore_ruby *ruby, uint64_t ec, uint64_t thread)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t status, stack;
	return (get(ruby, thread, &layout->thread.status, &status) &&
		status == RCORE_THREAD_KILLED) ||
	       (get(ruby, ec, &layout->ec.vm_stack, &stack) && !stack);
}

bool rcore_fiber_can_run(struct rcore_ruby *ruby, uint64_t fiber,
			 const struct rcore_field *status)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t ec = fiber + (uint64_t)layout->fiber.saved_ec.offset, value, thread, root;
	if (!read_status(ruby, fiber, status, &value) ||
	    !get(ruby, ec, &layout->ec.thread_ptr, &thread) ||
	    !get(ruby, thread, &layout->thread.root_fiber, &root))
		return false;
	switch (value) {
	case RCORE_FIBER_RESUMED:
		return true;
	case RCORE_FIBER_SUSPENDED:
		return root;
	case RCORE_FIBER_TERMINATED:
		return (root && root != fiber) || thread_ends(ruby, ec, thread);
	default:
		return false;
	}
}

bool rcore_fiber_can_wait(struct rcore_ruby *ruby, uint64_t fiber,
			  const struct rcore_field *status)
{
	uint64_t value;
	return read_status(ruby, fiber, status, &value) &&
	       (value == RCORE_FIBER_SUSPENDED || value == RCORE_FIBER_RESUMED);
}
