/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/count.h"
#include "ruby/object/array.h"
#include "vm/wait/wait_private.h"

/*
 * Queue, SizedQueue and ConditionVariable keep their waiters in a ring like a
 * Mutex; from 4.0 on, an IO does the same for its blocking operations
 * (rb_io_blocking_operation_enter() of thread.c). There is no list of these
 * objects; they are found as the self of a frame. Mirrors rb_queue, rb_szqueue
 * and rb_condvar of thread_sync.c.
 */

static struct rcore_error *add_wait(struct rcore_waits *waits, int fiber,
				    enum rcore_wait_kind kind, const struct rcore_sync *sync)
{
	struct rcore_ruby *ruby = waits->loader->ruby;
	const struct rcore_layout *layout = ruby->layout;
	uint64_t elements;
	if (fiber < 0 || waits->loader->fibers.items[fiber].wait)
		return NULL;
	struct rcore_wait *wait = rcore_wait_new(waits, fiber, kind, RCORE_WAIT_BY_VM);
	if (!wait)
		return rcore_error_no_memory();
	wait->object = sync->object;
	if (kind == RCORE_WAIT_IO)
		return rcore_wait_add_io(waits, wait, sync->object, NULL);
	if (kind != RCORE_WAIT_POP && kind != RCORE_WAIT_PUSH)
		return NULL;
	struct rcore_error *err =
		rcore_array(ruby, rcore_wait_field(waits, sync->data, &layout->queue.que),
			    &elements, &wait->length);
	wait->has_counts = !err;
	rcore_error_free(err);
	wait->waiting =
		rcore_wait_field(waits, sync->data,
				 kind == RCORE_WAIT_PUSH ? &layout->szqueue.num_waiting_push
							 : &layout->queue.num_waiting);
	if (sync->kind == RCORE_SYNC_SIZED_QUEUE)
		wait->max = rcore_wait_field(waits, sync->data, &layout->szqueue.max);
	return NULL;
}

static int waiter_in(struct rcore_waits *waits, uint64_t waiter)
{
	const struct rcore_layout *layout = waits->loader->ruby->layout;
	return rcore_wait_fiber(waits, rcore_wait_field(waits, waiter, &layout->sync_waiter.th),
				rcore_wait_field(waits, waiter, &layout->sync_waiter.fiber));
}

/*
 * After a fork, until the child uses the IO, the list still has the operations
 * of the parent's threads, which do not exist in the child
 * (rb_io_blocking_operations()). An operation of a parked fiber waits in a hook
 * of its scheduler.
 */
static int blocked_in(struct rcore_waits *waits, uint64_t operation)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_layout *layout = loader->ruby->layout;
	uint64_t ec = rcore_wait_field(waits, operation, &layout->blocking_operation.ec);
	int index = ec ? rcore_address_map_get(&loader->fiber_at,
					       ec - (uint64_t)layout->fiber.saved_ec.offset)
		       : -1;
	if (index < 0)
		return -1;
	const struct rcore_fiber *fiber = &loader->fibers.items[index];
	bool lives = fiber->thread >= 0 && !loader->threads.items[fiber->thread].is_ended;
	return lives && (!fiber->is_current || rcore_wait_is_blocked(waits, fiber)) ? index
										    : -1;
}

static struct rcore_error *visit_list(struct rcore_waits *waits, const struct rcore_sync *sync,
				      const struct rcore_field *head, enum rcore_wait_kind kind)
{
	const struct rcore_layout *layout = waits->loader->ruby->layout;
	const struct rcore_field *node = kind == RCORE_WAIT_IO
						 ? &layout->blocking_operation.list
						 : &layout->sync_waiter.node;
	struct rcore_error *err = NULL;
	uint64_t *waiters;
	size_t count;
	if (!rcore_has(head))
		return NULL;
	rcore_wait_problem(waits,
			   rcore_wait_list(waits, sync->data, head, node, &waiters, &count));
	for (size_t i = 0; !err && i < count; i++) {
		int fiber = kind == RCORE_WAIT_IO ? blocked_in(waits, waiters[i])
						  : waiter_in(waits, waiters[i]);
		err = add_wait(waits, fiber, kind, sync);
	}
	free(waiters);
	return err;
}

struct rcore_error *rcore_wait_visit(struct rcore_waits *waits, const struct rcore_sync *sync)
{
	const struct rcore_layout *layout = waits->loader->ruby->layout;
	const struct {
		enum rcore_sync_kind kind;
		const struct rcore_field *head;
		enum rcore_wait_kind wait;
	} lists[] = {
		{RCORE_SYNC_QUEUE, &layout->queue.waitq, RCORE_WAIT_POP},
		{RCORE_SYNC_SIZED_QUEUE, &layout->queue.waitq, RCORE_WAIT_POP},
		{RCORE_SYNC_SIZED_QUEUE, &layout->szqueue.pushq, RCORE_WAIT_PUSH},
		{RCORE_SYNC_CONDITION, &layout->condvar.waitq, RCORE_WAIT_CONDITION},
		{RCORE_SYNC_IO, &layout->io.blocking_operations, RCORE_WAIT_IO},
	};
	struct rcore_error *err = NULL;
	int index = rcore_address_map_get(&waits->sync_of, sync->object);
	if (index < 0 || waits->syncs.items[index].visited)
		return NULL;
	waits->syncs.items[index].visited = true;
	if (sync->kind == RCORE_SYNC_MUTEX)
		return rcore_wait_lock_at(waits, sync->data, sync->object, &index);
	for (size_t i = 0; !err && i < RCORE_COUNT(lists); i++)
		if (lists[i].kind == sync->kind)
			err = visit_list(waits, sync, lists[i].head, lists[i].wait);
	return err;
}
