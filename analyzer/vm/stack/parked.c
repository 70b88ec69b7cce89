/* SPDX-License-Identifier: MIT */
#include "vm/loader.h"

#include "target/process.h"

/*
 * No kernel thread has the registers of these fibers. coroutine_transfer()
 * saved them:
 *
 *   a fiber that switched to another one
 *   	rb_fiber_t.context.stack_pointer
 *   the current fiber of an M:N thread that waits without a kernel thread
 *   	rb_thread_t.sched.context->stack_pointer
 *
 * When a kernel thread has nothing more to do for an M:N thread (a Ractor's
 * thread, or any thread with RUBY_MN_THREADS=1), it sets th->nt to NULL and
 * switches away from it as from a fiber. Another kernel thread may continue it
 * later (thread_sched_wait_running_turn() of thread_pthread.c). Threads with a
 * kernel thread of their own have no sched.context.
 */
static uint64_t saved_sp(struct rcore_loader *loader, const struct rcore_thread *thread)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	struct rcore_memory *memory = loader->ruby->memory;
	uint64_t context, sp;
	if (!rcore_has(&layout->thread.sched_context) ||
	    rcore_read_field(memory, thread->address, &layout->thread.sched_context,
			     &context) ||
	    !context ||
	    rcore_read_field(memory, context, &layout->coroutine.stack_pointer, &sp))
		return 0;
	return sp;
}

static uint64_t thread_sp(struct rcore_loader *loader, const struct rcore_thread *thread)
{
	uint64_t nt;
	if (thread->is_ended || thread->tid || !rcore_has(&loader->ruby->layout->thread.nt) ||
	    rcore_read_field(loader->ruby->memory, thread->address,
			     &loader->ruby->layout->thread.nt, &nt) ||
	    nt)
		return 0;
	return saved_sp(loader, thread);
}

/*
 * If a process is stopped or dies in the middle of a switch, its structs may
 * name one fiber while its registers are on the machine stack of another one:
 *
 *   fiber_setcontext() of cont.c
 *   	From 3.1 on, th->ec is still the old fiber's after coroutine_transfer().
 *   	Up to 3.0, it is already the new fiber's before it.
 *   thread_sched_switch0() of thread_pthread.c
 *   	Before the transfer, it sets th->nt of the new thread, and sets that of
 *   	the old thread to NULL.
 *
 * The stack pointer shows whose stack is in use. The other fiber is as it was
 * saved. A current fiber has the status RESUMED unless the process is just
 * leaving it; so does a fiber whose stack overflowed into another one's.
 */
static bool has_stack_at(struct rcore_loader *loader, const struct rcore_fiber *fiber,
			 uint64_t sp)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	uint64_t size;
	if (fiber->machine_stack)
		return sp - fiber->machine_stack < fiber->machine_stack_size;
	if (!fiber->is_root || !fiber->stack_base ||
	    rcore_read_field(loader->ruby->memory, fiber->ec, &layout->ec.machine_stack_maxsize,
			     &size))
		return false;
	return fiber->stack_base - sp < size;
}

/*
 * Whether the context is initialized. coroutine_initialize() of
 * coroutine/.../Context.h fills a context that other fields already point to
 * (native_thread_create_shared() of thread_pthread_mn.c). At first the context
 * contains whatever malloc() returned, then the top of the stack. Below that,
 * the function reserves room for registers and for the coroutine's start
 * address.
 */
static bool is_filled(struct rcore_loader *loader, const struct rcore_fiber *fiber, uint64_t sp)
{
	enum { LEAST = 8 * sizeof(uint64_t) };
	return !fiber->stack_base ||
	       (has_stack_at(loader, fiber, sp) && fiber->stack_base - sp >= LEAST);
}

/*
 * Whether a thread can have `current` as its EC while it runs on the stack of
 * `other`.
 */
static bool can_be_switched(const struct rcore_loader *loader,
			    const struct rcore_fiber *current, const struct rcore_fiber *other)
{
	/* the thread is leaving it */
	if (current->status != RCORE_FIBER_RESUMED)
		return other->status == RCORE_FIBER_RESUMED;
	return loader->ruby->layout->traits.ec_switched_first && !other->is_current &&
	       (other->status == RCORE_FIBER_SUSPENDED ||
		other->status == RCORE_FIBER_TERMINATED);
}

/*
 * Returns whether no kernel thread has this thread's id. After a fork, 3.1 and
 * 3.2 still have the parent's, and a core may lack the thread pointers (QEMU
 * writes no NT_ARM_TLS).
 */
static bool has_no_kernel_thread(const struct rcore_loader *loader,
				 const struct rcore_thread *thread)
{
	for (size_t i = 0; i < loader->process->thread_count; i++)
		if (loader->process->threads[i].tid == thread->tid)
			return false;
	return true;
}

/*
 * Returns whether a kernel thread that belongs to no Ruby thread may run this
 * thread.
 */
static bool can_be_run(const struct rcore_loader *loader,
		       const struct rcore_native_thread *native,
		       const struct rcore_thread *thread)
{
	return thread->is_parked ||
	       (!native->thread_pointer && has_no_kernel_thread(loader, thread));
}

/*
 * Searches the fibers that a kernel thread may just have left or may be about
 * to leave, and those of threads of which nothing else is known. Returns -1 if
 * there is none.
 */
static int fiber_with_stack_at(struct rcore_loader *loader,
			       const struct rcore_native_thread *native,
			       const struct rcore_thread *thread,
			       const struct rcore_fiber *current, uint64_t sp)
{
	for (size_t i = 0; current && i < thread->fiber_count; i++) {
		const struct rcore_fiber *fiber = &loader->fibers.items[thread->fibers[i]];
		if (can_be_switched(loader, current, fiber) && has_stack_at(loader, fiber, sp))
			return thread->fibers[i];
	}
	for (size_t i = 0; i < loader->threads.count; i++) {
		const struct rcore_thread *other = &loader->threads.items[i];
		if (other->current_fiber < 0 ||
		    !(thread ? other->is_parked : can_be_run(loader, native, other)))
			continue;
		if (has_stack_at(loader, &loader->fibers.items[other->current_fiber], sp))
			return other->current_fiber;
	}
	return -1;
}

/*
 * Finds a thread that is ending and whose stack this is. Such a thread first
 * leaves the list of threads and then its stack (co_start() of
 * thread_pthread_mn.c). It no longer says where the stack is, only its size and
 * what it saved on it. Returns -1 if there is none.
 */
static int ended_fiber_at(struct rcore_loader *loader, uint64_t sp)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	for (size_t i = 0; i < loader->fibers.count; i++) {
		const struct rcore_fiber *fiber = &loader->fibers.items[i];
		const struct rcore_thread *thread =
			fiber->thread < 0 ? NULL : &loader->threads.items[fiber->thread];
		if (!thread || !thread->is_ended || fiber->status != RCORE_FIBER_TERMINATED ||
		    fiber->machine_stack)
			continue;
		uint64_t size, saved = saved_sp(loader, thread);
		if (saved &&
		    !rcore_read_field(loader->ruby->memory, fiber->ec,
				      &layout->ec.machine_stack_maxsize, &size) &&
		    (sp > saved ? sp - saved : saved - sp) < size)
			return (int)i;
	}
	return -1;
}

static struct rcore_thread *thread_of_tid(struct rcore_loader *loader, int tid)
{
	for (size_t i = 0; i < loader->threads.count; i++)
		if (loader->threads.items[i].tid == tid && !loader->threads.items[i].is_ended)
			return &loader->threads.items[i];
	return NULL;
}

/*
 * Returns whether the kernel thread is at the start of the stack that the C
 * library allocated for it, just below its thread control block. A signal
 * handler may run on another stack, which is elsewhere (sigaltstack(2)).
 */
static bool is_at_start(const struct rcore_native_thread *native, uint64_t sp)
{
	enum { NEAR = 64 << 10 };
	return native->thread_pointer > sp && native->thread_pointer - sp < NEAR;
}

/*
 * From 3.3 on, a kernel thread may serve several Ruby threads (M:N). Before it
 * switches to the stack of the next one, that one already has its id
 * (nt_start() and thread_sched_switch0() of thread_pthread.c). Such a thread is
 * still parked.
 */
static void park_next(struct rcore_loader *loader, const struct rcore_native_thread *native,
		      struct rcore_thread *thread, struct rcore_fiber *current, uint64_t sp)
{
	uint64_t saved = current ? saved_sp(loader, thread) : 0;
	if (!saved || !has_stack_at(loader, current, saved) || !is_at_start(native, sp))
		return;
	current->stack_pointer = saved;
	current->tid = thread->tid = 0;
	current->is_parked = thread->is_parked = true;
}

static void find_stack(struct rcore_loader *loader, const struct rcore_native_thread *native)
{
	struct rcore_thread *thread = native->tid ? thread_of_tid(loader, native->tid) : NULL;
	struct rcore_fiber *current = thread && thread->current_fiber >= 0
					      ? &loader->fibers.items[thread->current_fiber]
					      : NULL;
	uint64_t sp = native->registers[rcore_register_sp(loader->process->machine)];
	if (current)
		current->tid = native->tid;
	if (!native->has_registers || (current && has_stack_at(loader, current, sp)))
		return;
	int found = fiber_with_stack_at(loader, native, thread, current, sp);
	if (found < 0) {
		found = thread ? -1 : ended_fiber_at(loader, sp);
		if (found >= 0)
			loader->fibers.items[found].tid = native->tid;
		else
			park_next(loader, native, thread, current, sp);
		return;
	}
	struct rcore_fiber *fiber = &loader->fibers.items[found];
	struct rcore_thread *owner = &loader->threads.items[fiber->thread];
	if (current) {
		uint64_t saved =
			fiber->thread == current->thread ? 0 : saved_sp(loader, thread);
		if (saved)
			current->stack_pointer = saved;
		current->tid = 0;
		current->is_parked = saved || (current->status != RCORE_FIBER_TERMINATED &&
					       current->stack_pointer);
	}
	fiber->tid = native->tid;
	fiber->is_parked = owner->is_parked = false;
	if (thread)
		return;
	owner->tid = native->tid;
	owner->is_crashed = native->tid && native->tid == loader->process->crashed_tid;
}

/*
 * A fiber with the status RESUMED that is not current is just being entered. A
 * thread that has left the list of threads is ending and never resumes what it
 * saved at an earlier switch.
 */
static bool has_saved(const struct rcore_loader *loader, const struct rcore_fiber *fiber)
{
	if (fiber->is_current || !fiber->stack_pointer)
		return false;
	return fiber->status == RCORE_FIBER_SUSPENDED ||
	       (fiber->status == RCORE_FIBER_RESUMED &&
		(fiber->thread < 0 || !loader->threads.items[fiber->thread].is_ended));
}

void rcore_mark_parked(struct rcore_loader *loader)
{
	for (size_t i = 0; i < loader->fibers.count; i++) {
		struct rcore_fiber *fiber = &loader->fibers.items[i];
		fiber->is_parked = has_saved(loader, fiber);
	}
	for (size_t i = 0; i < loader->threads.count; i++) {
		struct rcore_thread *thread = &loader->threads.items[i];
		uint64_t sp = thread_sp(loader, thread);
		if (!sp || thread->current_fiber < 0)
			continue;
		struct rcore_fiber *fiber = &loader->fibers.items[thread->current_fiber];
		if (!is_filled(loader, fiber, sp))
			continue;
		thread->is_parked = fiber->is_parked = true;
		fiber->stack_pointer = sp;
	}
	for (size_t i = 0; i < loader->process->thread_count; i++)
		find_stack(loader, &loader->process->threads[i]);
}
