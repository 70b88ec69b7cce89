/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_POOLS_PRIVATE_H
#define RCORE_VM_POOLS_PRIVATE_H

#include "base/address_map.h"
#include "vm/work/pools.h"

/*
 * What pools.c, which finds the pools, shares with pool_holders.c, and with
 * pool_claims.c, which finds holders by what fibers have.
 */

/* Where a pool keeps the owners of its connections. */
enum rcore_pool_holders {
	/* An Array of connections, each with its Thread or Fiber in @owner. */
	RCORE_HOLDERS_OWNERS,
	RCORE_HOLDERS_KEYS, /* a Hash from the Thread to its connection */
	/* A Symbol: Thread#[] has the connection under this name. */
	RCORE_HOLDERS_LOCALS,
	/* A number; fibers that run what has acquired it have its frame. */
	RCORE_HOLDERS_FRAMES,
	/*
	 * As KEYS, but if @exclusive_thread is a Thread, that is the only
	 * holder.
	 */
	RCORE_HOLDERS_SHARE,
};

struct rcore_pool_library {
	const char *name, *resource;
	enum rcore_wait_kind kind; /* of the waits for it */
	const char *method;        /* its self is the pool */
	const char *sizes[2];
	enum rcore_pool_holders holders;
	const char *holders_in;
};

/*
 * What shows that a fiber holds something: it runs a method of `object`, or has
 * a variable called `name`.
 */
struct rcore_pool_claim {
	uint64_t object;  /* 0: none */
	const char *name; /* "": none */
	int fiber;
};

struct rcore_pool_claims { /* all zeroes is empty */
	struct rcore_pool_claim *items;
	size_t count, capacity; /* sorted by object, name and fiber */
	bool is_complete;
};

struct rcore_pool_search {
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
	/* By frames that have acquired a semaphore, and by Thread#[]. */
	struct rcore_pool_claims frames, locals;
	size_t reads; /* see rcore_pool_may_read() */
	bool is_limited;
};

/*
 * Counts one connection of a pool that is read. Returns false if there are too
 * many: a hostile target may have a pool for each fiber, all with the same
 * connections.
 */
bool rcore_pool_may_read(struct rcore_pool_search *search);
enum { RCORE_POOL_READS = 1 << 20 }; /* of all pools */

/* Reads an instance variable; false if there is none, or it is nil. */
bool rcore_pool_ivar(struct rcore_pool_search *search, uint64_t object, const char *name,
		     uint64_t *ret);

/* pool_holders.c: finds who holds a pool's connections. */
struct rcore_error *rcore_pool_find_holders(struct rcore_pool_search *search,
					    const struct rcore_pool_library *library,
					    struct rcore_pool *pool);

/*
 * Adds to search->holders the fibers that run what has acquired a semaphore, or
 * those with a variable of this name that is not nil. Error: NO_MEMORY.
 */
struct rcore_error *rcore_pool_find_in_frames(struct rcore_pool_search *search,
					      uint64_t semaphore);
struct rcore_error *rcore_pool_find_in_locals(struct rcore_pool_search *search,
					      const char *name);

#endif
