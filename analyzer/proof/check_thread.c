/* SPDX-License-Identifier: MIT */
/* Threads and their native threads. */
#include "proof/check.h"

CHECK(thread_node)
{
	uint64_t node = member(base, field), head;
	const struct rcore_layout *layout = layout_of(s);
	if (rcore_has(&layout->vm.living_threads))
		head = member(s->vm.at[0], &layout->vm.living_threads);
	else if (s->ractor.count && leads(s, base, &layout->thread.ractor, s->ractor.at[0]))
		head = member(s->ractor.at[0], &layout->ractor.threads_set);
	else
		return RCORE_SILENT;
	return verdict_of(list_through(s, head, node, node + 1) > 0);
}

CHECK(thread_vm)
{
	return verdict_of(leads(s, base, field, s->vm.at[0]));
}

CHECK(thread_ec)
{
	uint64_t ec;
	return verdict_of(get(s, base, field, &ec) &&
			  leads(s, ec, &layout_of(s)->ec.thread_ptr, base));
}

/* A thread without one is not on a native thread now (M:N). */
CHECK(thread_nt)
{
	uint64_t nt;
	if (!get(s, base, field, &nt))
		return RCORE_FAILS;
	return nt ? verdict_of(readable(s, nt)) : RCORE_SILENT;
}

static enum rcore_verdict native(const struct rcore_samples *s, uint64_t base,
				 const struct rcore_field *field, bool is_tid)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	for (size_t i = 0; s->process && i < s->process->thread_count; i++) {
		const struct rcore_native_thread *thread = &s->process->threads[i];
		if (is_tid ? (uint64_t)thread->tid == value
			   : value && thread->thread_pointer == value)
			return RCORE_HOLDS;
	}
	return is_tid && value > INT32_MAX ? RCORE_FAILS : RCORE_SILENT;
}

CHECK(native_tid)
{
	return native(s, base, field, true);
}

/* pthread_t, which with glibc on x86-64 is the thread pointer */
CHECK(native_id)
{
	return native(s, base, field, false);
}

CHECK(thread_region)
{
	uint64_t region, ec;
	if (!get(s, base, field, &region))
		return RCORE_FAILS;
	if (!region)
		return RCORE_SILENT;
	return get(s, base, &layout_of(s)->thread.ec, &ec)
		       ? rcore_check_stack_address(s, ec, region)
		       : RCORE_FAILS;
}

CHECK(thread_locking_mutex)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? verdict_of(is_object(s, value, TYPE(DATA))) : RCORE_SILENT;
}

/* enum thread_invoke_type: none (the main thread), proc, ractor's proc, func */
CHECK(thread_invoke_type)
{
	enum { FUNC = 3 };
	return at_most(s, base, field, FUNC);
}

/* The Proc that Thread.new got. */
CHECK(thread_proc)
{
	enum { INVOKE_PROC = 1 };
	if (!leads(s, base, &layout_of(s)->thread.invoke_type, INVOKE_PROC))
		return RCORE_SILENT;
	return object_of(s, base, field, TYPE(DATA));
}

CHECK(thread_scheduler)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? verdict_of(rcore_is_nil(s->ruby, value) ||
				  is_object(s, value, TYPE(OBJECT) | TYPE(DATA)))
		     : RCORE_SILENT;
}

/*
 * If the thread is in no queue, the node is zero or points to itself. While the
 * thread enters or leaves a queue, it may point to nodes that do not point
 * back: ccan_list_add_before_() and ccan_list_del_() write one pointer after
 * the other.
 */
CHECK(thread_queue_node)
{
	uint64_t next;
	if (!get(s, base, &(struct rcore_field){.offset = field->offset, .size = sizeof(next)},
		 &next))
		return RCORE_FAILS;
	if (!next)
		return RCORE_SILENT;
	enum rcore_verdict verdict = rcore_check_a_list(s, base, field);
	return verdict == RCORE_FAILS && list_closes(s, next, NULL) == RCORE_HOLDS
		       ? RCORE_SILENT
		       : verdict;
}

/* enum thread_sched_waiting_flag of thread_pthread.h */
CHECK(thread_waiting_flags)
{
	return at_most(s, base, field, 0xff);
}

CHECK(waiting_thread)
{
	uint64_t thread;
	if (!get(s, base, field, &thread))
		return is_lost(s, base) ? RCORE_SILENT : RCORE_FAILS;
	return thread ? verdict_of(is_thread(s, thread)) : RCORE_SILENT;
}

CHECK(thread_join_list)
{
	uint64_t waiter;
	if (!get(s, base, field, &waiter))
		return RCORE_FAILS;
	return waiter ? rcore_check_waiting_thread(s, waiter, &layout_of(s)->join_waiter.thread)
		      : RCORE_SILENT;
}

/*
 * Whether the mutex is just being unlocked. The thread first clears the owner,
 * then wakes a waiter, and last removes the mutex from its list
 * (rb_mutex_unlock_th() of thread_sync.c).
 */
static enum rcore_verdict is_let_go(const struct rcore_samples *s, uint64_t mutex)
{
	return list_closes(s, member(mutex, &layout_of(s)->mutex.waitq), NULL) == RCORE_FAILS
		       ? RCORE_FAILS
		       : RCORE_SILENT;
}

/*
 * A locked mutex has an owner: a thread or its Thread, a fiber, or from 4.0 on
 * an EC's number.
 */
CHECK(a_held_mutex)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t mutex, holder;
	if (!get(s, base, field, &mutex))
		return RCORE_FAILS;
	if (!mutex)
		return RCORE_SILENT;
	bool by_fiber = rcore_has(&layout->mutex.fiber);
	if (!get(s, mutex, by_fiber ? &layout->mutex.fiber : &layout->mutex.thread, &holder))
		return RCORE_FAILS;
	if (!holder)
		return is_let_go(s, mutex);
	return verdict_of(by_fiber ? is_fiber(s, holder)
				   : is_thread(s, holder) || is_object(s, holder, TYPE(DATA)));
}
