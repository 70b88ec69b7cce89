/* SPDX-License-Identifier: MIT */
#include "ruby/object/value.h"
#include "vm/wait/wait_private.h"

/*
 * The chain of held locks links rb_mutex_t, which do not point to their Mutex
 * objects. A Monitor is another object around a Mutex, as is an IO with
 * buffered output. But a fiber that holds a lock or waits for it mostly refers
 * to the object: as a frame's self, or as a value on its VM stack. The lock's
 * object is the one that wraps this rb_mutex_t.
 */

static struct rcore_error *offer(struct rcore_waits *waits, uint64_t value)
{
	const struct rcore_layout *layout = waits->loader->ruby->layout;
	struct rcore_sync sync, inner;
	struct rcore_error *err = rcore_wait_sync(waits, value, &sync);
	if (err)
		return err;
	enum rcore_lock_kind kind = sync.kind == RCORE_SYNC_MONITOR ? RCORE_LOCK_MONITOR
				    : sync.kind == RCORE_SYNC_IO    ? RCORE_LOCK_WRITE
								    : RCORE_LOCK_MUTEX;
	inner = sync;
	if (kind != RCORE_LOCK_MUTEX)
		err = rcore_wait_sync(waits,
				      rcore_wait_field(waits, sync.data,
						       kind == RCORE_LOCK_MONITOR
							       ? &layout->monitor.mutex
							       : &layout->io.write_lock),
				      &inner);
	if (err || inner.kind != RCORE_SYNC_MUTEX)
		return err;
	int index = rcore_address_map_get(&waits->lock_of, inner.data);
	struct rcore_lock *lock = index < 0 ? NULL : &waits->locks.items[index];
	if (!lock || lock->kind != RCORE_LOCK_MUTEX ||
	    (lock->object && kind == RCORE_LOCK_MUTEX))
		return NULL;
	lock->object = sync.object;
	lock->kind = kind;
	if (kind == RCORE_LOCK_MONITOR)
		lock->count = rcore_wait_field(waits, sync.data, &layout->monitor.count);
	return NULL;
}

static struct rcore_error *look_at_frames(struct rcore_waits *waits, int fiber)
{
	const struct rcore_fiber *holder = &waits->loader->fibers.items[fiber];
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < holder->frame_count; i++)
		err = offer(waits, holder->frames[i].self);
	return err;
}

/* Looks at all values below the innermost frame's stack pointer. */
static struct rcore_error *look_at_stack(struct rcore_waits *waits, int fiber)
{
	enum { CHUNK = 512 };
	struct rcore_ruby *ruby = waits->loader->ruby;
	const struct rcore_fiber *holder = &waits->loader->fibers.items[fiber];
	uint64_t words[CHUNK], flags;
	struct rcore_error *err = NULL;
	if (!holder->frame_count)
		return NULL;
	uint64_t top = rcore_wait_field(waits, holder->frames[0].cfp, &ruby->layout->cfp.sp);
	uint64_t at = holder->vm_stack;
	if (top < at || top - at > holder->vm_stack_size || top % sizeof(words[0]))
		return NULL;
	if ((top - at) / sizeof(words[0]) > RCORE_STACK_WORDS)
		at = top - RCORE_STACK_WORDS * sizeof(words[0]);
	while (!err && at < top) {
		size_t count = (top - at) / sizeof(words[0]);
		if (count > CHUNK)
			count = CHUNK;
		if (rcore_read(ruby->memory, at, words, count * sizeof(words[0])))
			return NULL;
		for (size_t i = 0; !err && i < count; i++)
			if (rcore_is_object(ruby, words[i]) &&
			    !rcore_read_field(ruby->memory, words[i],
					      &ruby->layout->basic.flags, &flags) &&
			    (flags & RCORE_T_MASK) == RCORE_T_DATA)
				err = offer(waits, words[i]);
		at += count * sizeof(words[0]);
	}
	return err;
}

/*
 * Up to 2.7, a thread owns a lock, and any of its fibers may refer to the
 * object.
 */
static struct rcore_error *
each_holder(struct rcore_waits *waits, const struct rcore_owner *owner,
	    struct rcore_error *(*look)(struct rcore_waits *waits, int fiber))
{
	struct rcore_error *err = NULL;
	if (owner->fiber >= 0)
		return look(waits, owner->fiber);
	if (owner->thread < 0)
		return NULL;
	const struct rcore_thread *thread = &waits->loader->threads.items[owner->thread];
	for (size_t i = 0; !err && i < thread->fiber_count; i++)
		err = look(waits, thread->fibers[i]);
	return err;
}

static struct rcore_error *name_lock(struct rcore_waits *waits, size_t index)
{
	struct rcore_lock *lock = &waits->locks.items[index];
	struct rcore_error *err = each_holder(waits, &lock->owner, look_at_frames);
	for (size_t i = 0; !err && lock->kind == RCORE_LOCK_MUTEX && i < lock->waiter_count;
	     i++)
		err = look_at_frames(waits, lock->waiters[i]);
	if (!err && !lock->object)
		err = each_holder(waits, &lock->owner, look_at_stack);
	return err;
}

struct rcore_error *rcore_wait_lock_names(struct rcore_waits *waits)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < waits->locks.count; i++)
		err = name_lock(waits, i);
	for (size_t i = 0; !err && i < waits->loader->fibers.count; i++) {
		struct rcore_wait *wait = waits->loader->fibers.items[i].wait;
		int index = wait ? rcore_address_map_get(&waits->lock_of, wait->lock) : -1;
		if (index < 0 || wait->kind != RCORE_WAIT_MUTEX ||
		    waits->locks.items[index].kind != RCORE_LOCK_MONITOR)
			continue;
		wait->kind = RCORE_WAIT_MONITOR;
		wait->object = waits->locks.items[index].object;
	}
	return err;
}
