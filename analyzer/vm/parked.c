/* SPDX-License-Identifier: MIT */
#include "vm/loader.h"

/*
 * Who has no CPU registers but those that coroutine_transfer() saved:
 *
 *   a fiber that another was switched to       rb_fiber_t.context.stack_pointer
 *   the fiber that an M:N thread runs, while   rb_thread_t.sched.context->stack_pointer
 *   the thread waits without a kernel thread
 *
 * A kernel thread that finds nothing more to do for an M:N thread (a Ractor's, or any with
 * RUBY_MN_THREADS=1) sets th->nt to NULL and leaves it as one leaves a fiber; another may take it up
 * later (thread_sched_wait_running_turn() of thread_pthread.c). Threads with a kernel thread of
 * their own have no sched.context.
 */
static uint64_t thread_sp(struct rcore_loader *loader, const struct rcore_thread *thread)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	struct rcore_memory *memory = loader->ruby->memory;
	uint64_t nt, context, sp;
	if (thread->is_ended || thread->tid || !rcore_has(&layout->thread.sched_context) ||
	    rcore_read_field(memory, thread->address, &layout->thread.nt, &nt) || nt ||
	    rcore_read_field(memory, thread->address, &layout->thread.sched_context,
			     &context) ||
	    !context ||
	    rcore_read_field(memory, context, &layout->coroutine.stack_pointer, &sp))
		return 0;
	return sp;
}

void rcore_mark_parked(struct rcore_loader *loader)
{
	for (size_t i = 0; i < loader->fibers.count; i++) {
		struct rcore_fiber *fiber = &loader->fibers.items[i];
		fiber->is_parked = fiber->status == RCORE_FIBER_SUSPENDED &&
				   !fiber->is_current && fiber->stack_pointer;
	}
	for (size_t i = 0; i < loader->threads.count; i++) {
		struct rcore_thread *thread = &loader->threads.items[i];
		uint64_t sp = thread_sp(loader, thread);
		if (!sp || thread->current_fiber < 0)
			continue;
		struct rcore_fiber *fiber = &loader->fibers.items[thread->current_fiber];
		thread->is_parked = fiber->is_parked = true;
		fiber->stack_pointer = sp;
	}
}
