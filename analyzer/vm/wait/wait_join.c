/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "vm/wait/wait_private.h"

/*
 * Compiled code may link the new entry before it fills it. It is then in the
 * innermost function's frame.
 */
static bool is_being_filled(const struct rcore_process *process, uint64_t entry)
{
	enum { MAX_FRAME = 512 };
	int sp = rcore_register_sp(process->machine);
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].has_registers &&
		    entry - process->threads[i].registers[sp] < MAX_FRAME)
			return true;
	return false;
}

/*
 * Each thread has a chain of the threads that wait for its end; each entry is
 * on the waiter's machine stack. See thread_join() of thread.c and struct
 * rb_waiting_list of vm_core.h (up to 2.7, rb_thread_list_t).
 */
static struct rcore_error *joiners(struct rcore_waits *waits, int target)
{
	struct rcore_loader *loader = waits->loader;
	const struct rcore_layout *layout = loader->ruby->layout;
	const struct rcore_thread *thread = &loader->threads.items[target];
	uint64_t entry = rcore_wait_field(waits, thread->address, &layout->thread.join_list);
	/* an earlier entry: meeting it again means a cycle (Brent) */
	uint64_t mark = entry;
	size_t since = 0, lap = 1;
	for (size_t i = 0; entry; i++) {
		uint64_t next;
		enum rcore_fault fault = rcore_read_field(loader->ruby->memory, entry,
							  &layout->join_waiter.next, &next);
		int fiber = rcore_wait_fiber(
			waits, rcore_wait_field(waits, entry, &layout->join_waiter.thread),
			rcore_wait_field(waits, entry, &layout->join_waiter.fiber));
		if (!fault && fiber < 0 && !i && is_being_filled(loader->process, entry))
			return NULL;
		if (fault || fiber < 0 || i >= RCORE_WAITER_LIMIT) {
			rcore_wait_problem(waits,
					   rcore_error_create(RCORE_ERROR_CORRUPT,
							      "threads that join %s: no "
							      "rb_waiting_list at 0x%" PRIx64,
							      thread->id, entry));
			return NULL;
		}
		if (!loader->fibers.items[fiber].wait) {
			struct rcore_wait *wait =
				rcore_wait_new(waits, fiber, RCORE_WAIT_JOIN, RCORE_WAIT_BY_VM);
			if (!wait)
				return rcore_error_no_memory();
			wait->thread = target;
			wait->object = thread->object;
		}
		entry = next;
		if (entry == mark && entry) {
			rcore_wait_problem(waits,
					   rcore_error_create(RCORE_ERROR_CORRUPT,
							      "threads that join %s: the list "
							      "has a cycle at 0x%" PRIx64,
							      thread->id, entry));
			return NULL;
		}
		if (++since == lap) {
			mark = entry;
			lap *= 2;
			since = 0;
		}
	}
	return NULL;
}

struct rcore_error *rcore_wait_joins(struct rcore_waits *waits)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < waits->loader->threads.count; i++)
		if (!waits->loader->threads.items[i].is_ended &&
		    waits->loader->threads.items[i].status != RCORE_THREAD_KILLED)
			err = joiners(waits, (int)i);
	return err;
}

struct rcore_error *rcore_wait_ending(struct rcore_waits *waits, int fiber)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_fiber *waiter = &loader->fibers.items[fiber];
	const struct rcore_thread *threads = loader->threads.items;
	if (waiter->wait || waiter->frame_count || waiter->thread < 0 ||
	    !threads[waiter->thread].is_main || threads[waiter->thread].is_ended ||
	    threads[waiter->thread].status != RCORE_THREAD_KILLED ||
	    rcore_wait_faulted(waits, &threads[waiter->thread]))
		return NULL;
	for (size_t i = 0; i < loader->threads.count; i++) {
		if ((int)i == waiter->thread || threads[i].is_ended ||
		    threads[i].status == RCORE_THREAD_KILLED)
			continue;
		struct rcore_wait *wait =
			rcore_wait_new(waits, fiber, RCORE_WAIT_JOIN, RCORE_WAIT_BY_VM);
		if (!wait)
			return rcore_error_no_memory();
		wait->thread = (int)i;
		wait->object = threads[i].object;
		return NULL;
	}
	return NULL;
}
