/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "vm/wait/wait_private.h"

/*
 * A locked Mutex is on a chain of its thread (th->keeping_mutexes). The fibers
 * that want to lock it are in a ring, each with a struct sync_waiter on its own
 * machine stack:
 *
 *   rb_thread_t.keeping_mutexes -> rb_mutex_t -> next_mutex -> rb_mutex_t ...
 *                                      │ waitq
 *                                      v
 *                          sync_waiter { self, th, fiber, node } <-> ...
 *
 * Its owner is a thread up to 2.7, then a fiber (`fiber`), and from 4.0 on an
 * EC, by number (`ec_serial`). Mirrors rb_mutex_t and do_mutex_lock() of
 * thread_sync.c.
 */

static struct rcore_owner owner_of(struct rcore_waits *waits, uint64_t mutex)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_layout *layout = loader->ruby->layout;
	struct rcore_owner owner = {.thread = -1, .fiber = -1};
	if (rcore_has(&layout->mutex.ec_serial)) {
		owner.address = rcore_wait_field(waits, mutex, &layout->mutex.ec_serial);
		owner.fiber = rcore_address_map_get(&waits->serial_of, owner.address);
	} else if (rcore_has(&layout->mutex.fiber)) {
		owner.address = rcore_wait_field(waits, mutex, &layout->mutex.fiber);
		owner.fiber = rcore_address_map_get(&loader->fiber_at, owner.address);
	}
	if (!rcore_has(&layout->mutex.fiber))
		owner.thread = rcore_address_map_get(
			&loader->thread_at,
			rcore_wait_field(waits, mutex, &layout->mutex.thread));
	if (rcore_has(&layout->mutex.ec_serial) && !owner.address)
		owner.thread = -1;
	if (owner.fiber >= 0) {
		owner.thread = loader->fibers.items[owner.fiber].thread;
		owner.address = 0;
	}
	return owner;
}

static struct rcore_error *add_waiter(struct rcore_waits *waits, struct rcore_lock *lock,
				      uint64_t waiter)
{
	struct rcore_loader *loader = waits->loader;
	const struct rcore_layout *layout = loader->ruby->layout;
	uint64_t thread = rcore_wait_field(waits, waiter, &layout->sync_waiter.th);
	int fiber = rcore_wait_fiber(
		waits, thread, rcore_wait_field(waits, waiter, &layout->sync_waiter.fiber));
	uint64_t object =
		rcore_has(&layout->sync_waiter.self)
			? rcore_wait_field(waits, waiter, &layout->sync_waiter.self)
			: rcore_wait_field(waits, thread, &layout->thread.locking_mutex);
	if (fiber < 0) {
		if (!lock->problem)
			lock->problem = rcore_arena_printf(
				&loader->snapshot->arena,
				"the waiter at 0x%" PRIx64 " is not a thread or fiber", waiter);
		return NULL;
	}
	lock->waiters[lock->waiter_count++] = fiber;
	if (!lock->object)
		lock->object = object;
	if (loader->fibers.items[fiber].wait)
		return NULL;
	struct rcore_wait *wait =
		rcore_wait_new(waits, fiber, RCORE_WAIT_MUTEX, RCORE_WAIT_BY_VM);
	if (!wait)
		return rcore_error_no_memory();
	wait->object = object;
	wait->lock = lock->address;
	wait->owner = lock->owner;
	return NULL;
}

static struct rcore_error *add_waiters(struct rcore_waits *waits, struct rcore_lock *lock)
{
	struct rcore_loader *loader = waits->loader;
	const struct rcore_layout *layout = loader->ruby->layout;
	uint64_t *waiters;
	size_t count;
	struct rcore_error *err = rcore_wait_list(waits, lock->address, &layout->mutex.waitq,
						  &layout->sync_waiter.node, &waiters, &count);
	if (err) {
		lock->problem = rcore_arena_printf(&loader->snapshot->arena, "waiters: %s",
						   err->message);
		rcore_error_free(err);
		err = NULL;
	}
	lock->waiters = rcore_arena_array(&loader->snapshot->arena, count, sizeof(int));
	if (!lock->waiters)
		err = rcore_error_no_memory();
	for (size_t i = 0; !err && i < count; i++)
		err = add_waiter(waits, lock, waiters[i]);
	free(waiters);
	return err;
}

struct rcore_error *rcore_wait_lock_at(struct rcore_waits *waits, uint64_t address,
				       uint64_t object, int *ret)
{
	*ret = rcore_address_map_get(&waits->lock_of, address);
	if (*ret >= 0) {
		if (!waits->locks.items[*ret].object)
			waits->locks.items[*ret].object = object;
		return NULL;
	}
	struct rcore_lock *lock = rcore_push(&waits->locks);
	*ret = (int)waits->locks.count - 1;
	if (!lock || !rcore_address_map_put(&waits->lock_of, address, *ret))
		return rcore_error_no_memory();
	lock->address = address;
	lock->object = object;
	lock->owner = owner_of(waits, address);
	return add_waiters(waits, lock);
}

/* Reads the chain of the locks that one thread holds. */
static struct rcore_error *held_by(struct rcore_waits *waits, int thread)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_layout *layout = loader->ruby->layout;
	const struct rcore_thread *holder = &loader->threads.items[thread];
	uint64_t mutex =
		rcore_wait_field(waits, holder->address, &layout->thread.keeping_mutexes);
	while (mutex) {
		int lock;
		if (waits->locks.count >= RCORE_LOCK_LIMIT) {
			rcore_wait_problem(waits,
					   rcore_error_create(RCORE_ERROR_LIMIT,
							      "locks of thread %s: more than "
							      "%d locks are held in all",
							      holder->id, RCORE_LOCK_LIMIT));
			return NULL;
		}
		if (rcore_address_map_get(&waits->lock_of, mutex) >= 0) {
			rcore_wait_problem(
				waits, rcore_error_create(RCORE_ERROR_CORRUPT,
							  "locks of thread %s: rb_mutex_t "
							  "0x%" PRIx64 " is in the list twice",
							  holder->id, mutex));
			return NULL;
		}
		uint64_t next;
		enum rcore_fault fault = rcore_read_field(loader->ruby->memory, mutex,
							  &layout->mutex.next_mutex, &next);
		if (fault) {
			struct rcore_error *err = rcore_fault_error(fault, "rb_mutex_t", mutex,
								    layout->mutex.size);
			rcore_wait_problem(
				waits, rcore_error_wrap(err, "locks of thread %s", holder->id));
			return NULL;
		}
		struct rcore_error *err = rcore_wait_lock_at(waits, mutex, 0, &lock);
		if (err)
			return err;
		struct rcore_owner *owner = &waits->locks.items[lock].owner;
		if (owner->address && owner->thread < 0)
			owner->thread = thread;
		mutex = next;
	}
	return NULL;
}

/* A thread points to the Mutex that it wants until it has it. */
static struct rcore_error *wanted_by(struct rcore_waits *waits, int thread)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_thread *waiting = &loader->threads.items[thread];
	struct rcore_sync sync;
	int lock;
	struct rcore_error *err =
		rcore_wait_sync(waits,
				rcore_wait_field(waits, waiting->address,
						 &loader->ruby->layout->thread.locking_mutex),
				&sync);
	if (err || sync.kind != RCORE_SYNC_MUTEX)
		return err;
	err = rcore_wait_lock_at(waits, sync.data, sync.object, &lock);
	int fiber = waiting->current_fiber;
	if (err || fiber < 0 || loader->fibers.items[fiber].wait ||
	    !rcore_wait_is_blocked(waits, &loader->fibers.items[fiber]))
		return err;
	struct rcore_wait *wait =
		rcore_wait_new(waits, fiber, RCORE_WAIT_MUTEX, RCORE_WAIT_BY_VM);
	if (!wait)
		return rcore_error_no_memory();
	wait->object = sync.object;
	wait->lock = sync.data;
	wait->owner = waits->locks.items[lock].owner;
	return NULL;
}

struct rcore_error *rcore_wait_locks(struct rcore_waits *waits)
{
	const struct rcore_loader *loader = waits->loader;
	struct rcore_error *err = NULL;
	if (!rcore_has(&loader->ruby->layout->mutex.waitq))
		return NULL;
	for (size_t i = 0; !err && i < loader->threads.count; i++)
		if (loader->threads.items[i].status != RCORE_THREAD_STATUS_UNKNOWN)
			err = held_by(waits, (int)i);
	for (size_t i = 0; !err && i < loader->threads.count; i++)
		if (!loader->threads.items[i].is_ended)
			err = wanted_by(waits, (int)i);
	return err;
}
