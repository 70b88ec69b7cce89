/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "vm/find/list.h"
#include "vm/wait/wait_private.h"

/*
 * The threads that want the GVL are in a ring, which belongs to the VM up to
 * 2.7 and to the Ractor from 3.0 on. Its nodes are in native_thread_data, from
 * 3.2 on in sched. Mirrors gvl_acquire_common() of thread_pthread.c (up to
 * 3.1), thread_sched_to_ready_common() (3.2) and thread_sched_enq() (from 3.3
 * on).
 */
static struct rcore_error *queue_of(struct rcore_waits *waits, uint64_t base,
				    const struct rcore_field *head,
				    const struct rcore_field *node, uint64_t holder)
{
	const struct rcore_loader *loader = waits->loader;
	struct rcore_error *err = NULL;
	uint64_t *threads;
	size_t count;
	rcore_wait_problem(waits,
			   rcore_error_wrap(rcore_list_of(loader->ruby, base, head, node,
							  RCORE_WAITER_LIMIT, &threads, &count),
					    "threads that wait for the GVL"));
	for (size_t i = 0; !err && i < count; i++) {
		int fiber = rcore_wait_fiber(waits, threads[i], 0);
		struct rcore_wait *wait = fiber < 0
						  ? NULL
						  : rcore_wait_new(waits, fiber, RCORE_WAIT_GVL,
								   RCORE_WAIT_BY_VM);
		if (wait)
			wait->owner.thread = rcore_address_map_get(&loader->thread_at, holder);
		else if (fiber >= 0)
			err = rcore_error_no_memory();
	}
	free(threads);
	return err;
}

/*
 * For a thread that is about to enter the ring (in gvl_yield(), or because it
 * was just created), its state is the only evidence.
 */
static struct rcore_error *about_to(struct rcore_waits *waits,
				    const struct rcore_thread *thread, uint64_t holder)
{
	int fiber = thread->current_fiber;
	if (thread->is_ended || rcore_wait_faulted(waits, thread) ||
	    thread->gvl != RCORE_GVL_WAITING || fiber < 0 ||
	    waits->loader->fibers.items[fiber].wait)
		return NULL;
	struct rcore_wait *wait =
		rcore_wait_new(waits, fiber, RCORE_WAIT_GVL, RCORE_WAIT_BY_VM);
	if (!wait)
		return rcore_error_no_memory();
	wait->owner.thread = rcore_address_map_get(&waits->loader->thread_at, holder);
	return NULL;
}

static struct rcore_error *queues(struct rcore_waits *waits)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_layout *layout = loader->ruby->layout;
	struct rcore_error *err = NULL;
	if (rcore_has(&layout->vm.gvl_waitq))
		return queue_of(waits, loader->vm, &layout->vm.gvl_waitq,
				&layout->thread.gvl_node,
				rcore_wait_field(waits, loader->vm, &layout->vm.gvl_owner));
	bool is_sched = rcore_has(&layout->ractor.sched_readyq);
	const struct rcore_field *queue =
		is_sched ? &layout->ractor.sched_readyq : &layout->ractor.gvl_waitq;
	const struct rcore_field *holder =
		is_sched ? &layout->ractor.sched_running : &layout->ractor.gvl_owner;
	for (size_t i = 0; !err && rcore_has(queue) && i < loader->ractors.count; i++) {
		uint64_t ractor = loader->ractors.items[i].address;
		err = queue_of(waits, ractor, queue,
			       is_sched ? &layout->thread.readyq_node
					: &layout->thread.gvl_node,
			       rcore_wait_field(waits, ractor, holder));
	}
	return err;
}

struct rcore_error *rcore_wait_gvl(struct rcore_waits *waits)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_layout *layout = loader->ruby->layout;
	const struct rcore_field *holder = rcore_has(&layout->ractor.sched_running)
						   ? &layout->ractor.sched_running
						   : &layout->ractor.gvl_owner;
	struct rcore_error *err = queues(waits);
	for (size_t i = 0; !err && i < loader->threads.count; i++) {
		const struct rcore_thread *thread = &loader->threads.items[i];
		err = about_to(
			waits, thread,
			thread->ractor < 0
				? rcore_wait_field(waits, loader->vm, &layout->vm.gvl_owner)
				: rcore_wait_field(
					  waits, loader->ractors.items[thread->ractor].address,
					  holder));
	}
	return err;
}
