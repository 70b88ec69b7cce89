/* SPDX-License-Identifier: MIT */
#include <string.h>

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
#include "vm/work/pools_private.h"

enum {
	CONNECTIONS = 10000, /* of one pool */
	PURPOSES = 64,       /* that one thread lets go first; Rails uses two */
};

bool rcore_pool_ivar(struct rcore_pool_search *search, uint64_t object, const char *name,
		     uint64_t *ret)
{
	return rcore_ivar_try(search->ruby, object, name, ret) &&
	       !rcore_is_nil(search->ruby, *ret);
}

/*
 * Records a connection in use. Its owner is unknown if that thread has ended.
 */
static struct rcore_error *add_holder(struct rcore_pool_search *search, struct rcore_pool *pool,
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

static struct rcore_error *by_owners(struct rcore_pool_search *search, struct rcore_pool *pool,
				     uint64_t connections)
{
	struct rcore_ruby *ruby = search->ruby;
	uint64_t elements, length, connection, owner;
	struct rcore_error *err = rcore_array(ruby, connections, &elements, &length);
	for (uint64_t i = 0;
	     !err && i < length && i < CONNECTIONS && rcore_pool_may_read(search); i++)
		if (!rcore_read_u64(ruby->memory, elements + i * sizeof(connection),
				    &connection) &&
		    rcore_pool_ivar(search, connection, "@owner", &owner))
			err = add_holder(search, pool, owner);
	return err;
}

static struct rcore_error *by_keys(struct rcore_pool_search *search, struct rcore_pool *pool,
				   uint64_t allocated)
{
	struct rcore_hash_iterator iterator;
	uint64_t key, value;
	bool found = true;
	struct rcore_error *err = rcore_hash_begin(&iterator, search->ruby, allocated);
	for (int i = 0; !err && found && i < CONNECTIONS && rcore_pool_may_read(search); i++) {
		err = rcore_hash_next(&iterator, &found, &key, &value);
		if (!err && found)
			err = add_holder(search, pool, key);
	}
	return err;
}

/* Turns what Ruby prints for a Symbol into its name; NULL if it is none. */
static const char *symbol_name(char *inspected)
{
	if (*inspected++ != ':')
		return NULL;
	if (*inspected != '"')
		return inspected;
	inspected++;
	size_t length = strlen(inspected);
	if (length && inspected[length - 1] == '"')
		inspected[length - 1] = '\0';
	return inspected;
}

static struct rcore_error *by_locals(struct rcore_pool_search *search, struct rcore_pool *pool,
				     uint64_t key)
{
	struct rcore_value value;
	struct rcore_error *err = rcore_inspect(search->ruby, key, NULL, &value);
	if (err || value.problem || !value.text)
		return err;
	char *inspected = rcore_arena_strdup(&search->snapshot->arena, value.text);
	const char *name = inspected ? symbol_name(inspected) : NULL;
	if (!inspected)
		return rcore_error_no_memory();
	err = name ? rcore_pool_find_in_locals(search, name) : NULL;
	pool->used = search->holders.count;
	return err;
}

static struct rcore_error *by_frames(struct rcore_pool_search *search, struct rcore_pool *pool,
				     uint64_t count)
{
	struct rcore_error *err = rcore_pool_find_in_frames(search, pool->object);
	if (rcore_is_count(count, &pool->used))
		return err;
	pool->used = search->holders.count;
	pool->is_used_unknown = search->is_limited;
	return err;
}

/* Moves the holders that were found to the snapshot. */
static struct rcore_error *take_holders(struct rcore_pool_search *search, int **ret,
					size_t *ret_count)
{
	size_t size = search->holders.count * sizeof(**ret);
	*ret = rcore_arena_alloc(&search->snapshot->arena, size + 1);
	if (!*ret)
		return rcore_error_no_memory();
	if (size)
		memcpy(*ret, search->holders.items, size);
	*ret_count = search->holders.count;
	search->holders.count = 0;
	return NULL;
}

/*
 * Whether a waiter, [purpose, compatible], lets threads go first whose purpose
 * is false, as of those that begin to share the lock.
 */
static bool is_compatible(struct rcore_pool_search *search, uint64_t pair)
{
	struct rcore_memory *memory = search->ruby->memory;
	uint64_t elements, length, compatible, purpose;
	bool found = false;
	struct rcore_error *err = rcore_array(search->ruby, pair, &elements, &length);
	if (!err && length > 1 && !rcore_read_u64(memory, elements + 8, &compatible))
		err = rcore_array(search->ruby, compatible, &elements, &length);
	for (uint64_t i = 0; !err && !found && i < length && i < PURPOSES; i++)
		found = !rcore_read_u64(memory, elements + i * sizeof(purpose), &purpose) &&
			!purpose;
	/* If in doubt, assume that it does: then others do not wait for it. */
	found |= err || length > PURPOSES;
	rcore_error_free(err);
	return found;
}

/* ShareLock#yield_shares: @waiting[Thread.current] = [purpose, compatible] */
static struct rcore_error *find_first(struct rcore_pool_search *search, struct rcore_pool *pool)
{
	struct rcore_hash_iterator iterator;
	uint64_t waiting, key, value, used = pool->used;
	bool found = true;
	if (!rcore_pool_ivar(search, pool->object, "@waiting", &waiting))
		return NULL;
	struct rcore_error *err = rcore_hash_begin(&iterator, search->ruby, waiting);
	for (int i = 0; !err && found && i < CONNECTIONS && rcore_pool_may_read(search); i++) {
		err = rcore_hash_next(&iterator, &found, &key, &value);
		if (!err && found && !is_compatible(search, value))
			err = add_holder(search, pool, key);
	}
	pool->used = used;
	return err ? err : take_holders(search, &pool->first, &pool->first_count);
}

static struct rcore_error *by_share(struct rcore_pool_search *search, struct rcore_pool *pool,
				    uint64_t sharing)
{
	uint64_t thread;
	struct rcore_error *err = rcore_error_forgive(find_first(search, pool));
	search->holders.count = 0;
	if (err)
		return err;
	if (!rcore_pool_ivar(search, pool->object, "@exclusive_thread", &thread))
		return by_keys(search, pool, sharing);
	pool->is_exclusive = true;
	return add_holder(search, pool, thread);
}

struct rcore_error *rcore_pool_find_holders(struct rcore_pool_search *search,
					    const struct rcore_pool_library *library,
					    struct rcore_pool *pool)
{
	uint64_t holders;
	struct rcore_error *err = NULL;
	search->holders.count = 0;
	if (!rcore_pool_ivar(search, pool->object, library->holders_in, &holders))
		return NULL;
	if (library->holders == RCORE_HOLDERS_OWNERS)
		err = by_owners(search, pool, holders);
	else if (library->holders == RCORE_HOLDERS_KEYS)
		err = by_keys(search, pool, holders);
	else if (library->holders == RCORE_HOLDERS_SHARE)
		err = by_share(search, pool, holders);
	else if (library->holders == RCORE_HOLDERS_FRAMES)
		err = by_frames(search, pool, holders);
	else
		err = by_locals(search, pool, holders);
	pool->is_unread = search->is_limited;
	/* A semaphore counts itself. */
	if (library->holders != RCORE_HOLDERS_FRAMES)
		pool->is_used_unknown = search->is_limited;
	err = rcore_error_forgive(err);
	return err ? err : take_holders(search, &pool->holders, &pool->holder_count);
}
