/* SPDX-License-Identifier: MIT */
#include "vm/work/pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "model/wait_text.h"
#include "ruby/object/value.h"
#include "vm/problem.h"
#include "vm/work/pools_private.h"

/*
 * A thread that waits for a connection waits for a condition variable. Which
 * pool it is, and who has the connections, is in the instance variables of the
 * pool, the self of a frame of the method that takes a connection.
 */

#define SHARE_LOCK "ActiveSupport::Concurrency::ShareLock"
static const struct rcore_pool_library libraries[] = {
	{"Active Record",
	 "a database connection",
	 RCORE_WAIT_CONNECTION,
	 "ActiveRecord::ConnectionAdapters::ConnectionPool#checkout",
	 {"@size", "@max_connections"},
	 RCORE_HOLDERS_OWNERS,
	 "@connections"},
	{"connection_pool",
	 "a connection",
	 RCORE_WAIT_CONNECTION,
	 "ConnectionPool#checkout",
	 {"@size"},
	 RCORE_HOLDERS_LOCALS,
	 "@key"},
	{"Sequel",
	 "a database connection",
	 RCORE_WAIT_CONNECTION,
	 "Sequel::ThreadedConnectionPool#acquire",
	 {"@max_size"},
	 RCORE_HOLDERS_KEYS,
	 "@allocated"},
	{"Sequel",
	 "a database connection",
	 RCORE_WAIT_CONNECTION,
	 "Sequel::TimedQueueConnectionPool#acquire",
	 {"@max_size"},
	 RCORE_HOLDERS_KEYS,
	 "@allocated"},
	{"Async",
	 "an Async::Semaphore",
	 RCORE_WAIT_SEMAPHORE,
	 "Async::Semaphore#wait",
	 {"@limit"},
	 RCORE_HOLDERS_FRAMES,
	 "@count"},
	{"Active Support",
	 "the Rails interlock",
	 RCORE_WAIT_INTERLOCK,
	 SHARE_LOCK "#wait_for",
	 {NULL},
	 RCORE_HOLDERS_SHARE,
	 "@sharing"},
};

/* Frames from the wait to the method that takes a connection. */
enum { DEPTH = 64 };

static struct rcore_error *index_fibers(struct rcore_pool_search *search)
{
	const struct rcore_snapshot *snapshot = search->snapshot;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		uint64_t object = snapshot->fibers[i].object;
		if (object && rcore_address_map_get(&search->fiber_of, object) < 0 &&
		    !rcore_address_map_put(&search->fiber_of, object, (int)i))
			return rcore_error_no_memory();
	}
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		if (thread->object && !thread->is_ended && thread->current_fiber >= 0 &&
		    rcore_address_map_get(&search->fiber_of, thread->object) < 0 &&
		    !rcore_address_map_put(&search->fiber_of, thread->object,
					   thread->current_fiber))
			return rcore_error_no_memory();
	}
	return NULL;
}

static struct rcore_error *pool_at(struct rcore_pool_search *search,
				   const struct rcore_pool_library *library, uint64_t object,
				   int *ret)
{
	uint64_t size;
	*ret = rcore_address_map_get(&search->pool_of, object);
	if (*ret >= 0)
		return NULL;
	struct rcore_pool *pool = rcore_push(&search->pools);
	*ret = (int)search->pools.count - 1;
	if (!pool || !rcore_address_map_put(&search->pool_of, object, *ret))
		return rcore_error_no_memory();
	*pool = (struct rcore_pool){.kind = library->kind,
				    .library = library->name,
				    .resource = library->resource,
				    .object = object};
	for (size_t i = 0; i < RCORE_COUNT(library->sizes); i++)
		if (rcore_pool_ivar(search, object, library->sizes[i], &size))
			rcore_is_count(size, &pool->size);
	return rcore_pool_find_holders(search, library, pool);
}

static const struct rcore_pool_library *library_of(const struct rcore_frame *frame)
{
	for (size_t i = 0; i < RCORE_COUNT(libraries); i++)
		if (rcore_same_text(frame->label, libraries[i].method))
			return &libraries[i];
	return NULL;
}

static struct rcore_error *look_at(struct rcore_pool_search *search, struct rcore_fiber *fiber,
				   int *ret)
{
	*ret = -1;
	if (!fiber->wait ||
	    (fiber->wait->kind != RCORE_WAIT_CONDITION && fiber->wait->kind != RCORE_WAIT_POP &&
	     fiber->wait->kind != RCORE_WAIT_SEMAPHORE))
		return NULL;
	for (size_t i = 0; i < fiber->frame_count && i < DEPTH; i++) {
		const struct rcore_pool_library *library = library_of(&fiber->frames[i]);
		if (library)
			return pool_at(search, library, fiber->frames[i].self, ret);
	}
	return NULL;
}

/* The waiters are counted first, and then listed. */
static struct rcore_error *find_waiters(struct rcore_pool_search *search, int *pool_of_fiber)
{
	struct rcore_snapshot *snapshot = search->snapshot;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_error *err =
			look_at(search, &snapshot->fibers[i], &pool_of_fiber[i]);
		if (err)
			return err;
		if (pool_of_fiber[i] >= 0)
			search->pools.items[pool_of_fiber[i]].waiter_count++;
	}
	for (size_t i = 0; i < search->pools.count; i++) {
		struct rcore_pool *pool = &search->pools.items[i];
		pool->waiters = rcore_arena_alloc(&snapshot->arena,
						  pool->waiter_count * sizeof(int) + 1);
		if (!pool->waiters)
			return rcore_error_no_memory();
		pool->waiter_count = 0;
	}
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_pool *pool =
			pool_of_fiber[i] < 0 ? NULL : &search->pools.items[pool_of_fiber[i]];
		if (pool)
			pool->waiters[pool->waiter_count++] = (int)i;
	}
	return NULL;
}

/* What the caller of ShareLock#wait_for waits for. */
static const char *wanted_by(const struct rcore_fiber *fiber)
{
	static const struct {
		const char *method, *wants;
	} callers[] = {
		{SHARE_LOCK "#start_exclusive", "lock"},
		{SHARE_LOCK "#start_sharing", "share"},
		{SHARE_LOCK "#yield_shares", "share"},
	};
	for (size_t i = 0; i + 1 < fiber->frame_count && i < DEPTH; i++) {
		const char *caller = fiber->frames[i + 1].label;
		if (!rcore_same_text(fiber->frames[i].label, SHARE_LOCK "#wait_for"))
			continue;
		for (size_t j = 0; caller && j < RCORE_COUNT(callers); j++) {
			const char *method = strstr(caller, SHARE_LOCK);
			if (rcore_same_text(method, callers[j].method))
				return callers[j].wants;
		}
		return NULL;
	}
	return NULL;
}

static struct rcore_error *keep(struct rcore_pool_search *search, const int *pool_of_fiber)
{
	struct rcore_snapshot *snapshot = search->snapshot;
	size_t size = search->pools.count * sizeof(*snapshot->pools);
	if (!size)
		return NULL;
	snapshot->pools = rcore_arena_alloc(&snapshot->arena, size);
	if (!snapshot->pools)
		return rcore_error_no_memory();
	memcpy(snapshot->pools, search->pools.items, size);
	snapshot->pool_count = search->pools.count;
	if (!rcore_pools_index(snapshot))
		return rcore_error_no_memory();
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_wait *wait = snapshot->fibers[i].wait;
		if (pool_of_fiber[i] < 0 || wait->kind == RCORE_WAIT_SEMAPHORE)
			continue;
		const struct rcore_pool *pool = &snapshot->pools[pool_of_fiber[i]];
		wait->kind = pool->kind;
		if (pool->kind == RCORE_WAIT_INTERLOCK)
			wait->wants = wanted_by(&snapshot->fibers[i]);
		wait->object = pool->object;
		wait->has_counts = !pool->is_used_unknown;
		wait->length = pool->used;
		wait->waiting = pool->waiter_count;
		wait->max = pool->size;
	}
	return NULL;
}

static struct rcore_error *too_many(void)
{
	return rcore_error_create(
		RCORE_ERROR_LIMIT,
		"fibers wait for too many pools: rcore read %d uses of the first ones; who "
		"uses the others, and how much of them, is not shown",
		RCORE_POOL_READS);
}

struct rcore_error *rcore_vm_pools(struct rcore_ruby *ruby, struct rcore_snapshot *snapshot)
{
	struct rcore_pool_search search = {.ruby = ruby, .snapshot = snapshot};
	int *pool_of_fiber = rcore_calloc(snapshot->fiber_count, sizeof(int));
	struct rcore_error *err =
		pool_of_fiber ? index_fibers(&search) : rcore_error_no_memory();
	if (!err)
		err = find_waiters(&search, pool_of_fiber);
	if (!err)
		err = keep(&search, pool_of_fiber);
	if (!err && search.is_limited)
		rcore_problem_add(snapshot, too_many());
	rcore_address_map_deinit(&search.fiber_of);
	rcore_address_map_deinit(&search.pool_of);
	free(search.pools.items);
	free(search.holders.items);
	free(search.frames.items);
	free(search.locals.items);
	free(pool_of_fiber);
	return err;
}
