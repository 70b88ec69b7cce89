/* SPDX-License-Identifier: MIT */
#include "vm/wait/wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "vm/wait/wait_private.h"

static bool put(struct rcore_address_map *map, uint64_t key, int index)
{
	return !key || rcore_address_map_get(map, key) >= 0 ||
	       rcore_address_map_put(map, key, index);
}

static struct rcore_error *index_objects(struct rcore_waits *waits)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_field *serial = &loader->ruby->layout->ec.serial;
	bool ok = true;
	for (size_t i = 0; ok && i < loader->threads.count; i++)
		ok = put(&waits->thread_of, loader->threads.items[i].object, (int)i);
	for (size_t i = 0; ok && i < loader->fibers.count; i++) {
		const struct rcore_fiber *fiber = &loader->fibers.items[i];
		ok = put(&waits->fiber_of, fiber->object, (int)i);
		if (ok && rcore_has(serial))
			ok = put(&waits->serial_of, rcore_wait_field(waits, fiber->ec, serial),
				 (int)i);
	}
	return ok ? NULL : rcore_error_no_memory();
}

/*
 * If a program parked a fiber itself, not through a scheduler's hook, only the
 * program knows what the fiber waits for (for async: wait_async.c).
 */
static bool may_wait(struct rcore_waits *waits, const struct rcore_fiber *fiber)
{
	if (fiber->is_current)
		return rcore_wait_is_blocked(waits, fiber);
	return fiber->status == RCORE_FIBER_SUSPENDED || fiber->status == RCORE_FIBER_RESUMED;
}

static struct rcore_error *look_at_stacks(struct rcore_waits *waits)
{
	struct rcore_loader *loader = waits->loader;
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < loader->fibers.count; i++) {
		const struct rcore_fiber *fiber = &loader->fibers.items[i];
		if (fiber->frame_count && may_wait(waits, fiber))
			err = rcore_wait_frames(waits, (int)i);
		if (!err && fiber->is_current)
			err = rcore_wait_require(waits, (int)i);
		if (!err && fiber->status == RCORE_FIBER_SUSPENDED)
			err = rcore_wait_async(waits, (int)i);
		if (!err && fiber->is_current)
			err = rcore_wait_ending(waits, (int)i);
		if (!err && fiber->is_current)
			err = rcore_wait_syscall(waits, (int)i);
		if (!err && fiber->is_current)
			err = rcore_wait_child(waits, (int)i);
		if (!err)
			err = rcore_wait_within(waits, (int)i);
	}
	return err;
}

static bool is_held(const struct rcore_lock *lock)
{
	return lock->owner.thread >= 0 || lock->owner.fiber >= 0 || lock->owner.address;
}

/*
 * Fills `ret`: for each fiber, the index of the lock that it wants, if some of
 * that lock's waiters could not be read and the fiber is not among those that
 * could. Otherwise -1.
 */
static void list_missing(const struct rcore_waits *waits, int *ret)
{
	const struct rcore_loader *loader = waits->loader;
	for (size_t i = 0; i < loader->fibers.count; i++) {
		const struct rcore_wait *wait = loader->fibers.items[i].wait;
		bool wants =
			wait && wait->lock &&
			(wait->kind == RCORE_WAIT_MUTEX || wait->kind == RCORE_WAIT_MONITOR);
		ret[i] = wants ? rcore_address_map_get(&waits->lock_of, wait->lock) : -1;
		if (ret[i] >= 0 && (!waits->locks.items[ret[i]].problem ||
				    !is_held(&waits->locks.items[ret[i]])))
			ret[i] = -1;
	}
	for (size_t i = 0; i < waits->locks.count; i++) {
		const struct rcore_lock *lock = &waits->locks.items[i];
		for (size_t j = 0; j < lock->waiter_count; j++)
			if (ret[lock->waiters[j]] == (int)i)
				ret[lock->waiters[j]] = -1;
	}
}

/* Makes room for `more` waiters after those that the lock has. */
static bool reserve(struct rcore_arena *arena, struct rcore_lock *lock, size_t more)
{
	int *waiters = rcore_arena_array(arena, lock->waiter_count + more, sizeof(*waiters));
	if (waiters && lock->waiter_count)
		memcpy(waiters, lock->waiters, lock->waiter_count * sizeof(*waiters));
	lock->waiters = waiters;
	return waiters;
}

/*
 * The ring of a lock's waiters is on their stacks, which may be unreadable. If
 * so, appends those whose threads or frames say that they want the lock.
 */
static struct rcore_error *add_known_waiters(struct rcore_waits *waits)
{
	const struct rcore_loader *loader = waits->loader;
	size_t fibers = loader->fibers.count, locks = waits->locks.count;
	int *missing = rcore_calloc(fibers, sizeof(*missing));
	size_t *counts = rcore_calloc(locks, sizeof(*counts));
	bool done = missing && counts;
	if (done)
		list_missing(waits, missing);
	for (size_t i = 0; done && i < fibers; i++)
		if (missing[i] >= 0)
			counts[missing[i]]++;
	for (size_t i = 0; done && i < locks; i++)
		done = !counts[i] ||
		       reserve(&loader->snapshot->arena, &waits->locks.items[i], counts[i]);
	for (size_t i = 0; done && i < fibers; i++)
		if (missing[i] >= 0) {
			struct rcore_lock *lock = &waits->locks.items[missing[i]];
			lock->waiters[lock->waiter_count++] = (int)i;
		}
	free(missing);
	free(counts);
	return done ? NULL : rcore_error_no_memory();
}

/*
 * Keeps the locks that a fiber holds, and drops those that were found only
 * because a fiber waits for them.
 */
static struct rcore_error *keep_locks(struct rcore_waits *waits)
{
	struct rcore_snapshot *snapshot = waits->loader->snapshot;
	snapshot->locks = rcore_arena_array(&snapshot->arena, waits->locks.count,
					    sizeof(*snapshot->locks));
	if (!snapshot->locks)
		return rcore_error_no_memory();
	for (size_t i = 0; i < waits->locks.count; i++)
		if (is_held(&waits->locks.items[i]))
			snapshot->locks[snapshot->lock_count++] = waits->locks.items[i];
	return NULL;
}

struct rcore_error *rcore_load_waits(struct rcore_loader *loader)
{
	struct rcore_waits waits = {.loader = loader, .loading_count = -1};
	struct rcore_error *err = index_objects(&waits);
	if (!err)
		err = rcore_wait_gvl(&waits);
	if (!err)
		err = rcore_wait_locks(&waits);
	if (!err)
		err = rcore_wait_joins(&waits);
	if (!err)
		err = rcore_wait_io(&waits);
	if (!err)
		err = look_at_stacks(&waits);
	if (!err)
		err = rcore_wait_lock_names(&waits);
	if (!err)
		err = add_known_waiters(&waits);
	if (!err)
		err = rcore_wait_async_count(&waits);
	if (!err)
		err = keep_locks(&waits);
	rcore_address_map_deinit(&waits.thread_of);
	rcore_address_map_deinit(&waits.fiber_of);
	rcore_address_map_deinit(&waits.serial_of);
	rcore_address_map_deinit(&waits.sync_of);
	rcore_address_map_deinit(&waits.lock_of);
	free(waits.syncs.items);
	free(waits.locks.items);
	return err;
}
