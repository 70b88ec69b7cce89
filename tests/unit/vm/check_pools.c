/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "fake_ivar.h"
#include "fake_values.h"
#include "model/wait_text.h"
#include "ruby_suite.h"
#include "suite.h"
#include "tables.h"
#include "vm/work/pools.h"
#include "vm/work/pools_private.h"

/*
 * As many pools as there are fibers. What one fiber more or one pool more costs
 * does not depend on how many there are: a walk over all of them would take
 * longer than the limit of Check.
 */
enum { MANY = 50000, SLOT = 64, FRAMES = 3 };

static struct rcore_snapshot snapshot;

static void start(size_t count)
{
	begin(series_count() - 1);
	snapshot = (struct rcore_snapshot){.fiber_count = count};
	snapshot.fibers = rcore_arena_array(&snapshot.arena, count, sizeof(*snapshot.fibers));
	memset(snapshot.fibers, 0, count * sizeof(*snapshot.fibers));
}

static void finish(void)
{
	rcore_arena_deinit(&snapshot.arena);
}

/* Returns the first of `count` equal objects, which have these variables. */
static uint64_t make_objects(const struct fake_ivar *ivars, size_t ivar_count, size_t count)
{
	char slot[SLOT];
	uint64_t object = fake_object(&fake, RCORE_T_OBJECT, SLOT);
	fake_put_field(&fake.target, object, &fake.layout.basic.klass,
		       fake_named_class(&fake, "Pool", 0));
	fake_set_ivars(&fake, object, FAKE_IVAR_EMBEDDED, ivars, ivar_count);
	ck_assert(!rcore_read(ruby.memory, object, slot, SLOT));
	uint64_t first = fake_alloc(&fake.target, count * SLOT, SLOT);
	for (size_t i = 0; i < count; i++)
		fake_write(&fake.target, first + i * SLOT, slot, SLOT);
	return first;
}

/* A fiber that waits for a pool in this method, which others have called. */
static void add_wait(size_t fiber, enum rcore_wait_kind kind, const char *method, uint64_t pool)
{
	static const char *const labels[FRAMES] = {NULL, "Async::Semaphore#acquire", "run"};
	struct rcore_arena *room = &snapshot.arena;
	struct rcore_fiber *to = &snapshot.fibers[fiber];
	to->wait = rcore_arena_alloc(room, sizeof(*to->wait));
	*to->wait = (struct rcore_wait){.kind = kind, .object = pool, .thread = -1};
	to->frames = rcore_arena_array(room, FRAMES, sizeof(*to->frames));
	to->frame_count = FRAMES;
	for (size_t i = 0; i < FRAMES; i++)
		to->frames[i] =
			(struct rcore_frame){.label = i ? labels[i] : method, .self = pool};
}

static void add_local(size_t fiber, const char *name)
{
	struct rcore_variables *locals = &snapshot.fibers[fiber].locals;
	locals->items = rcore_arena_alloc(&snapshot.arena, sizeof(*locals->items));
	locals->items[0] = (struct rcore_variable){
		.name = rcore_arena_strdup(&snapshot.arena, name), .value.value = 3};
	locals->count = 1;
}

/* The frame of a fiber that waits for a semaphore has not acquired this one. */
START_TEST(test_semaphores)
{
	start(MANY);
	const struct fake_ivar count = {fake_id(&fake, "@count") | 1 << 1, 3};
	uint64_t first = make_objects(&count, 1, MANY);
	for (size_t i = 0; i < MANY; i++)
		add_wait(i, RCORE_WAIT_SEMAPHORE, "Async::Semaphore#wait", first + i * SLOT);
	/* Fiber 8 has acquired what fiber 7 waits for, twice. */
	snapshot.fibers[8].frames[1].self = first + 7 * SLOT;
	snapshot.fibers[8].frames[2] = snapshot.fibers[8].frames[1];
	OK(rcore_vm_pools(&ruby, &snapshot));
	ck_assert_uint_eq(snapshot.pool_count, MANY);
	for (size_t i = 0; i < MANY; i++) {
		const struct rcore_pool *pool = &snapshot.pools[i];
		ck_assert_uint_eq(pool->object, first + i * SLOT);
		ck_assert_uint_eq(pool->waiter_count, 1);
		ck_assert_uint_eq(pool->used, 1);
		ck_assert_uint_eq(pool->holder_count, i == 7);
	}
	ck_assert_int_eq(snapshot.pools[7].holders[0], 8);
	finish();
}
END_TEST

static void make_pools(size_t count, const char *key)
{
	const struct fake_ivar ivars[] = {
		{fake_id(&fake, "@size") | 1 << 1, FAKE_FIXNUM(5)},
		{fake_id(&fake, "@key") | 1 << 1, fake_symbol(&fake, key)}};
	uint64_t first = make_objects(ivars, RCORE_COUNT(ivars), count);
	for (size_t i = 0; i < count; i++)
		add_wait(i, RCORE_WAIT_POP, "ConnectionPool#checkout", first + i * SLOT);
}

/* A name that inspect quotes, and one that it does not. */
START_TEST(test_locals)
{
	static const char *const names[] = {"pool-7", "pool_7"};
	start(MANY);
	make_pools(MANY, names[_i]);
	for (size_t i = 0; i < MANY; i++) {
		char name[32];
		snprintf(name, sizeof(name), "pool%c%zu", names[_i][4], i);
		add_local(i, name);
	}
	OK(rcore_vm_pools(&ruby, &snapshot));
	ck_assert_uint_eq(snapshot.pool_count, MANY);
	for (size_t i = 0; i < MANY; i++) {
		const struct rcore_pool *pool = &snapshot.pools[i];
		ck_assert_uint_eq(pool->size, 5);
		ck_assert_uint_eq(pool->used, 1);
		ck_assert_uint_eq(pool->holder_count, 1);
		ck_assert_int_eq(pool->holders[0], 7);
	}
	ck_assert_uint_eq(snapshot.problem_count, 0);
	finish();
}
END_TEST

/* All fibers hold all pools: there is a limit, and the report says so. */
START_TEST(test_limit)
{
	enum { COUNT = 5000 };
	size_t holders = 0;
	start(COUNT);
	make_pools(COUNT, "same");
	for (size_t i = 0; i < COUNT; i++)
		add_local(i, "same");
	OK(rcore_vm_pools(&ruby, &snapshot));
	for (size_t i = 0; i < snapshot.pool_count; i++)
		holders += snapshot.pools[i].holder_count;
	ck_assert_uint_eq(snapshot.pool_count, COUNT);
	ck_assert_uint_eq(snapshot.pools[0].holder_count, COUNT);
	ck_assert_uint_eq(holders, RCORE_POOL_READS);
	ck_assert(!snapshot.pools[0].is_used_unknown);
	ck_assert(snapshot.pools[COUNT - 1].is_used_unknown);
	ck_assert_uint_eq(snapshot.problem_count, 1);
	ck_assert_ptr_nonnull(
		strstr(snapshot.problems[0], "read 1048576 uses of the first ones"));
	finish();
}
END_TEST

/* A semaphore counts itself, but who has acquired it is not looked for then. */
START_TEST(test_semaphore_limit)
{
	enum { COUNT = 20000, HOLDERS = RCORE_POOL_READS / COUNT + 1 };
	static struct rcore_frame frames[COUNT];
	start(COUNT + HOLDERS);
	const struct fake_ivar count = {fake_id(&fake, "@count") | 1 << 1, FAKE_FIXNUM(3)};
	uint64_t first = make_objects(&count, 1, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		add_wait(i, RCORE_WAIT_SEMAPHORE, "Async::Semaphore#wait", first + i * SLOT);
		snapshot.fibers[i].frame_count = 1;
		frames[i] = (struct rcore_frame){.label = "Async::Semaphore#acquire",
						 .self = first + i * SLOT};
	}
	for (size_t i = COUNT; i < COUNT + HOLDERS; i++) {
		snapshot.fibers[i].frames = frames;
		snapshot.fibers[i].frame_count = COUNT;
	}
	OK(rcore_vm_pools(&ruby, &snapshot));
	ck_assert_uint_eq(snapshot.pool_count, COUNT);
	ck_assert(!snapshot.pools[0].is_unread);
	ck_assert_uint_eq(snapshot.pools[0].holder_count, HOLDERS);
	ck_assert(snapshot.pools[COUNT - 1].is_unread);
	ck_assert_uint_eq(snapshot.pools[COUNT - 1].holder_count, 0);
	ck_assert_uint_eq(snapshot.pools[COUNT - 1].used, 3);
	ck_assert(!snapshot.pools[COUNT - 1].is_used_unknown);
	finish();
}
END_TEST

/* Each wait finds its pool. */
START_TEST(test_waits)
{
	char text[128];
	start(MANY);
	make_pools(MANY, "none");
	OK(rcore_vm_pools(&ruby, &snapshot));
	FILE *out = fmemopen(text, sizeof(text), "w");
	for (size_t i = 0; i < MANY; i++) {
		const struct rcore_wait *wait = snapshot.fibers[i].wait;
		ck_assert_ptr_eq(rcore_wait_pool(&snapshot, wait), &snapshot.pools[i]);
		rewind(out);
		rcore_wait_write(&snapshot, wait, out);
	}
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "waits for a connection of pool 0x"));
	const struct rcore_wait other = {.kind = RCORE_WAIT_CONNECTION, .object = 8};
	ck_assert_ptr_null(rcore_wait_pool(&snapshot, &other));
	finish();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_semaphores, test_limit, test_semaphore_limit,
				      test_waits};
	const struct rcore_test_loop looped[] = {{test_locals, 2}};
	return rcore_test_suite_run(
		&(struct rcore_test_suite){.name = "pools",
					   .tests = tests,
					   .count = RCORE_COUNT(tests),
					   .looped = looped,
					   .looped_count = RCORE_COUNT(looped)});
}
