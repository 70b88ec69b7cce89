/* SPDX-License-Identifier: MIT */
#include "vm/work/pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "base/arena.h"
#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "ruby/heap/moved.h"
#include "ruby/inspect/inspect.h"
#include "ruby/object/array.h"
#include "ruby/object/hash.h"
#include "ruby/object/ivar.h"
#include "ruby/object/value.h"

/*
 * A thread that waits for a connection waits for a condition variable. Which
 * pool it is, and who has the connections, is in the instance variables of the
 * pool, the self of a frame of the method that takes a connection.
 */

/* Where a pool keeps the owners of its connections. */
enum holders {
	/* An Array of connections, each with its Thread or Fiber in @owner. */
	HOLDERS_OWNERS,
	HOLDERS_KEYS, /* a Hash from the Thread to its connection */
	/* A Symbol: Thread#[] has the connection under this name. */
	HOLDERS_LOCALS,
	/* A number; fibers that run what has acquired it have its frame. */
	HOLDERS_FRAMES,
};

static const struct library {
	const char *name, *resource;
	const char *method; /* its self is the pool */
	const char *sizes[2];
	enum holders holders;
	const char *holders_in;
} libraries[] = {
	{"Active Record",
	 "a database connection",
	 "ActiveRecord::ConnectionAdapters::ConnectionPool#checkout",
	 {"@size", "@max_connections"},
	 HOLDERS_OWNERS,
	 "@connections"},
	{"connection_pool",
	 "a connection",
	 "ConnectionPool#checkout",
	 {"@size"},
	 HOLDERS_LOCALS,
	 "@key"},
	{"Sequel",
	 "a database connection",
	 "Sequel::ThreadedConnectionPool#acquire",
	 {"@max_size"},
	 HOLDERS_KEYS,
	 "@allocated"},
	{"Sequel",
	 "a database connection",
	 "Sequel::TimedQueueConnectionPool#acquire",
	 {"@max_size"},
	 HOLDERS_KEYS,
	 "@allocated"},
	{"Async",
	 "an Async::Semaphore",
	 "Async::Semaphore#wait",
	 {"@limit"},
	 HOLDERS_FRAMES,
	 "@count"},
};

enum {
	/* Frames from the wait to the method that takes a connection. */
	DEPTH = 64,
	CONNECTIONS = 10000, /* of one pool */
};

struct search {
	struct rcore_ruby *ruby;
	struct rcore_snapshot *snapshot;
	/* Thread and Fiber VALUEs to fibers, pools' VALUEs to pools. */
	struct rcore_address_map fiber_of, pool_of;
	struct {
		struct rcore_pool *items;
		size_t count, capacity;
	} pools;
	struct {
		int *items;
		size_t count, capacity;
	} holders; /* of one pool */
};

static struct rcore_error *index_fibers(struct search *search)
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

/* Reads an instance variable; false if there is none, or it is nil. */
static bool read(struct search *search, uint64_t object, const char *name, uint64_t *ret)
{
	return rcore_ivar_try(search->ruby, object, name, ret) &&
	       !rcore_is_nil(search->ruby, *ret);
}

/*
 * Records a connection in use. Its owner is unknown if that thread has ended.
 */
static struct rcore_error *add_holder(struct search *search, struct rcore_pool *pool,
				      uint64_t owner)
{
	int fiber = rcore_address_map_get(&search->fiber_of, owner);
	pool->used++;
	if (fiber < 0)
		return NULL;
	int *holder = rcore_push(&search->holders);
	if (!holder)
		return rcore_error_no_memory();
	*holder = fiber;
	return NULL;
}

static struct rcore_error *by_owners(struct search *search, struct rcore_pool *pool,
				     uint64_t connections)
{
	struct rcore_ruby *ruby = search->ruby;
	uint64_t elements, length, connection, owner;
	struct rcore_error *err = rcore_array(ruby, connections, &elements, &length);
	for (uint64_t i = 0; !err && i < length && i < CONNECTIONS; i++)
		if (!rcore_read_u64(ruby->memory, elements + i * sizeof(connection),
				    &connection) &&
		    read(search, connection, "@owner", &owner))
			err = add_holder(search, pool, owner);
	return err;
}

static struct rcore_error *by_keys(struct search *search, struct rcore_pool *pool,
				   uint64_t allocated)
{
	struct rcore_hash_iterator iterator;
	uint64_t key, value;
	bool found = true;
	struct rcore_error *err = rcore_hash_begin(&iterator, search->ruby, allocated);
	for (int i = 0; !err && found && i < CONNECTIONS; i++) {
		err = rcore_hash_next(&iterator, &found, &key, &value);
		if (!err && found)
			err = add_holder(search, pool, key);
	}
	return err;
}

/* Whether this is how Ruby inspects the Symbol of that name. */
static bool is_symbol(const char *inspected, const char *name)
{
	size_t length = strlen(name);
	if (*inspected++ != ':')
		return false;
	inspected += *inspected == '"';
	return !strncmp(inspected, name, length) &&
	       (!inspected[length] || !strcmp(inspected + length, "\""));
}

static struct rcore_error *by_locals(struct search *search, struct rcore_pool *pool,
				     uint64_t key)
{
	const struct rcore_snapshot *snapshot = search->snapshot;
	struct rcore_value name;
	struct rcore_error *err = rcore_inspect(search->ruby, key, NULL, &name);
	if (err || name.problem || !name.text)
		return err;
	for (size_t i = 0; !err && i < snapshot->fiber_count; i++) {
		const struct rcore_variables *locals = &snapshot->fibers[i].locals;
		for (size_t j = 0; !err && j < locals->count; j++) {
			const struct rcore_variable *local = &locals->items[j];
			if (!local->name || !is_symbol(name.text, local->name) ||
			    rcore_is_nil(search->ruby, local->value.value))
				continue;
			pool->used++;
			int *holder = rcore_push(&search->holders);
			if (!holder)
				return rcore_error_no_memory();
			*holder = (int)i;
		}
	}
	return err;
}

static bool has_acquired(const struct search *search, const struct rcore_fiber *fiber,
			 uint64_t semaphore)
{
	static const char *const methods[] = {"Async::Semaphore#acquire",
					      "block in Async::Semaphore#async"};
	if (fiber->wait && fiber->wait->kind == RCORE_WAIT_SEMAPHORE &&
	    fiber->wait->object == semaphore)
		return false;
	for (size_t i = 0; i < fiber->frame_count; i++)
		for (size_t j = 0; j < RCORE_COUNT(methods); j++)
			if (rcore_same_text(fiber->frames[i].label, methods[j]) &&
			    rcore_is_same_object(search->ruby, fiber->frames[i].self,
						 semaphore))
				return true;
	return false;
}

static struct rcore_error *by_frames(struct search *search, struct rcore_pool *pool,
				     uint64_t count)
{
	const struct rcore_snapshot *snapshot = search->snapshot;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		if (!has_acquired(search, &snapshot->fibers[i], pool->object))
			continue;
		int *holder = rcore_push(&search->holders);
		if (!holder)
			return rcore_error_no_memory();
		*holder = (int)i;
	}
	if (!rcore_is_count(count, &pool->used))
		pool->used = search->holders.count;
	return NULL;
}

static struct rcore_error *find_holders(struct search *search, const struct library *library,
					struct rcore_pool *pool)
{
	uint64_t holders;
	struct rcore_error *err = NULL;
	search->holders.count = 0;
	if (!read(search, pool->object, library->holders_in, &holders))
		return NULL;
	if (library->holders == HOLDERS_OWNERS)
		err = by_owners(search, pool, holders);
	else if (library->holders == HOLDERS_KEYS)
		err = by_keys(search, pool, holders);
	else if (library->holders == HOLDERS_FRAMES)
		err = by_frames(search, pool, holders);
	else
		err = by_locals(search, pool, holders);
	err = rcore_error_forgive(err);
	size_t size = search->holders.count * sizeof(*pool->holders);
	pool->holders = err ? NULL : rcore_arena_alloc(&search->snapshot->arena, size + 1);
	if (!pool->holders)
		return err ? err : rcore_error_no_memory();
	if (size)
		memcpy(pool->holders, search->holders.items, size);
	pool->holder_count = search->holders.count;
	return NULL;
}

static struct rcore_error *pool_at(struct search *search, const struct library *library,
				   uint64_t object, int *ret)
{
	uint64_t size;
	*ret = rcore_address_map_get(&search->pool_of, object);
	if (*ret >= 0)
		return NULL;
	struct rcore_pool *pool = rcore_push(&search->pools);
	*ret = (int)search->pools.count - 1;
	if (!pool || !rcore_address_map_put(&search->pool_of, object, *ret))
		return rcore_error_no_memory();
	*pool = (struct rcore_pool){
		.library = library->name, .resource = library->resource, .object = object};
	for (size_t i = 0; i < RCORE_COUNT(library->sizes); i++)
		if (read(search, object, library->sizes[i], &size))
			rcore_is_count(size, &pool->size);
	return find_holders(search, library, pool);
}

static const struct library *library_of(const struct rcore_frame *frame)
{
	for (size_t i = 0; i < RCORE_COUNT(libraries); i++)
		if (rcore_same_text(frame->label, libraries[i].method))
			return &libraries[i];
	return NULL;
}

static struct rcore_error *look_at(struct search *search, struct rcore_fiber *fiber, int *ret)
{
	*ret = -1;
	if (!fiber->wait ||
	    (fiber->wait->kind != RCORE_WAIT_CONDITION && fiber->wait->kind != RCORE_WAIT_POP &&
	     fiber->wait->kind != RCORE_WAIT_SEMAPHORE))
		return NULL;
	for (size_t i = 0; i < fiber->frame_count && i < DEPTH; i++) {
		const struct library *library = library_of(&fiber->frames[i]);
		if (library)
			return pool_at(search, library, fiber->frames[i].self, ret);
	}
	return NULL;
}

/* The waiters are counted first, and then listed. */
static struct rcore_error *find_waiters(struct search *search, int *pool_of_fiber)
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

static struct rcore_error *keep(struct search *search, const int *pool_of_fiber)
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
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_wait *wait = snapshot->fibers[i].wait;
		if (pool_of_fiber[i] < 0 || wait->kind == RCORE_WAIT_SEMAPHORE)
			continue;
		const struct rcore_pool *pool = &snapshot->pools[pool_of_fiber[i]];
		wait->kind = RCORE_WAIT_CONNECTION;
		wait->object = pool->object;
		wait->has_counts = true;
		wait->length = pool->used;
		wait->waiting = pool->waiter_count;
		wait->max = pool->size;
	}
	return NULL;
}

struct rcore_error *rcore_vm_pools(struct rcore_ruby *ruby, struct rcore_snapshot *snapshot)
{
	struct search search = {.ruby = ruby, .snapshot = snapshot};
	int *pool_of_fiber = rcore_calloc(snapshot->fiber_count, sizeof(int));
	struct rcore_error *err =
		pool_of_fiber ? index_fibers(&search) : rcore_error_no_memory();
	if (!err)
		err = find_waiters(&search, pool_of_fiber);
	if (!err)
		err = keep(&search, pool_of_fiber);
	rcore_address_map_deinit(&search.fiber_of);
	rcore_address_map_deinit(&search.pool_of);
	free(search.pools.items);
	free(search.holders.items);
	free(pool_of_fiber);
	return err;
}
