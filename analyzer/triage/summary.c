/* SPDX-License-Identifier: MIT */
#include "triage/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/text.h"
#include "model/wait_text.h"
#include "triage/summary_lines.h"
#include "triage/summary_text.h"
#include "triage/workers.h"

static struct rcore_error *list_deadlocks(struct rcore_summary *summary)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	summary->deadlock_of = rcore_calloc(snapshot->fiber_count, sizeof(int));
	if (!summary->deadlock_of)
		return rcore_error_no_memory();
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		summary->deadlock_of[i] = -1;
	for (size_t i = 0; i < snapshot->deadlock_count; i++)
		for (size_t j = 0; j < snapshot->deadlocks[i].count; j++)
			summary->deadlock_of[snapshot->deadlocks[i].fibers[j]] = (int)i;
	return NULL;
}

/*
 * Whether all of these waiters are in one deadlock, which has a line of its
 * own.
 */
static bool is_deadlocked(const struct rcore_summary *summary, const int *waiters, size_t count)
{
	int deadlock = summary->deadlock_of[waiters[0]];
	for (size_t i = 1; i < count; i++)
		if (summary->deadlock_of[waiters[i]] != deadlock)
			return false;
	return deadlock >= 0;
}

static struct rcore_error *add_lock(struct rcore_summary *summary,
				    const struct rcore_lock *lock)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	const struct rcore_summary_line line = {
		.kind = RCORE_SUMMARY_LOCK,
		.object = lock->object,
		.holder = rcore_owner_fiber(snapshot, &lock->owner),
		.fibers = lock->waiters,
		.fiber_count = lock->waiter_count,
	};
	char *text = NULL;
	size_t size;
	if (!lock->waiter_count || is_deadlocked(summary, lock->waiters, lock->waiter_count))
		return NULL;
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return rcore_error_no_memory();
	rcore_summary_who(snapshot, line.fibers, line.fiber_count, "waits", "wait", out);
	fputs(" for ", out);
	rcore_lock_write(snapshot, lock->kind, lock->object, lock->address, &lock->owner, out);
	rcore_summary_holder(snapshot, line.holder, out);
	rcore_summary_places(snapshot, line.fibers, line.fiber_count, out);
	return rcore_summary_add(summary, &line, out, &text);
}

static struct rcore_error *add_queue(struct rcore_summary *summary,
				     const struct rcore_fibers_at *found)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	const struct rcore_wait *wait = snapshot->fibers[found->all.items[0]].wait;
	const struct rcore_summary_line line = {
		.kind = RCORE_SUMMARY_QUEUE,
		.object = wait->object,
		.holder = -1,
		.fibers = found->all.items,
		.fiber_count = found->all.count,
	};
	char *text = NULL;
	size_t size;
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return rcore_error_no_memory();
	rcore_summary_who(snapshot, line.fibers, line.fiber_count, "waits", "wait", out);
	fputs(" for room in ", out);
	rcore_wait_object_write(wait, out);
	fprintf(out, ", which is full (%" PRIu64 " of %" PRIu64 " items)", wait->length,
		wait->max);
	rcore_summary_places(snapshot, line.fibers, line.fiber_count, out);
	return rcore_summary_add(summary, &line, out, &text);
}

static struct rcore_error *add_queues(struct rcore_summary *summary)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	struct rcore_fibers_by_address queues = {0};
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < snapshot->fiber_count; i++) {
		const struct rcore_wait *wait = snapshot->fibers[i].wait;
		if (wait && wait->kind == RCORE_WAIT_PUSH && wait->has_counts &&
		    wait->length >= wait->max)
			err = rcore_fibers_by_address_add(&queues, wait->object, (int)i, false);
	}
	for (size_t i = 0; !err && i < queues.count; i++)
		err = add_queue(summary, &queues.items[i]);
	rcore_fibers_by_address_deinit(&queues);
	return err;
}

static void write_pool(const struct rcore_snapshot *snapshot, const struct rcore_pool *pool,
		       FILE *out)
{
	fprintf(out, " for %s (pool of ", pool->resource);
	if (pool->size)
		fprintf(out, "%" PRIu64, pool->size);
	else
		fputs(pool->library, out);
	if (pool->is_used_unknown)
		fputs(": use unknown", out);
	else if (pool->size && pool->used == pool->size)
		fputs(": all in use", out);
	else
		fprintf(out, ": %" PRIu64 " in use", pool->used);
	if (pool->holder_count) {
		fputs(" by ", out);
		rcore_fibers_write(snapshot, pool->holders, pool->holder_count, out);
	}
	putc(')', out);
}

/* A fiber that has acquired it without a block has no frame that shows it. */
static void write_semaphore(const struct rcore_snapshot *snapshot,
			    const struct rcore_pool *pool, FILE *out)
{
	fputs(" for ", out);
	rcore_wait_object_write(snapshot->fibers[pool->waiters[0]].wait, out);
	fprintf(out, " (%" PRIu64, pool->used);
	if (pool->size)
		fprintf(out, " of %" PRIu64, pool->size);
	fputs(" acquired", out);
	if (pool->holder_count) {
		fputs(" by ", out);
		rcore_fibers_write(snapshot, pool->holders, pool->holder_count, out);
		if (pool->used > pool->holder_count)
			fprintf(out, " and %" PRIu64 " unknown",
				pool->used - pool->holder_count);
	} else if (pool->is_unread) {
		fputs("; by whom was not looked at, because there are too many pools", out);
	} else {
		fputs("; by whom is unknown, because acquire had no block", out);
	}
	putc(')', out);
}

static size_t count_lockers(const struct rcore_snapshot *snapshot,
			    const struct rcore_pool *pool)
{
	size_t count = 0;
	for (size_t i = 0; i < pool->waiter_count; i++)
		count += rcore_wait_is_exclusive(snapshot->fibers[pool->waiters[i]].wait);
	return count;
}

/*
 * Counts those that wait to lock it, because they keep others from sharing it.
 */
static void write_interlock(const struct rcore_snapshot *snapshot,
			    const struct rcore_pool *pool, FILE *out)
{
	size_t lockers = count_lockers(snapshot, pool);
	fprintf(out, " for %s", pool->resource);
	if (lockers && lockers < pool->waiter_count)
		fprintf(out, ", %zu to lock it", lockers);
	else if (lockers)
		fputs(", to lock it", out);
	if (pool->holder_count) {
		fputs(pool->is_exclusive ? " (locked by " : " (shared by ", out);
		rcore_fibers_write(snapshot, pool->holders, pool->holder_count, out);
		putc(')', out);
	} else if (pool->used && !pool->is_unread) {
		fputs(" (held by a thread that has ended)", out);
	} else if (pool->first_count) {
		fputs(" (wanted by ", out);
		rcore_fibers_write(snapshot, pool->first, pool->first_count, out);
		putc(')', out);
	} else if (pool->is_unread) {
		fprintf(out,
			" (%s it is held was not looked at, because there are too many pools)",
			pool->used ? "by whom" : "whether");
	}
}

/*
 * The first holder is described: mostly, all of them do the same, and the rest
 * of the report shows each.
 */
static struct rcore_error *add_connections(struct rcore_summary *summary,
					   const struct rcore_pool *pool)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	const struct rcore_summary_line line = {
		.kind = RCORE_SUMMARY_CONNECTIONS,
		.object = pool->object,
		.holder = pool->holder_count  ? pool->holders[0]
			  : pool->first_count ? pool->first[0]
					      : -1,
		.fibers = pool->waiters,
		.fiber_count = pool->waiter_count,
	};
	char *text = NULL;
	size_t size;
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return rcore_error_no_memory();
	rcore_summary_who(snapshot, line.fibers, line.fiber_count, "waits", "wait", out);
	if (pool->kind == RCORE_WAIT_SEMAPHORE)
		write_semaphore(snapshot, pool, out);
	else if (pool->kind == RCORE_WAIT_INTERLOCK)
		write_interlock(snapshot, pool, out);
	else
		write_pool(snapshot, pool, out);
	if (pool->holder_count > 1)
		fprintf(out, "; %s", rcore_fiber_text(snapshot, line.holder));
	rcore_summary_state(snapshot, line.holder, pool->holder_count > 1 ? " " : ", which ",
			    out);
	rcore_summary_places(snapshot, line.fibers, line.fiber_count, out);
	return rcore_summary_add(summary, &line, out, &text);
}

/* A thread that sleeps in a method may still wait for the GVL to return. */
static bool waits_for_gvl(const struct rcore_snapshot *snapshot,
			  const struct rcore_thread *thread)
{
	const struct rcore_fiber *fiber = rcore_worker_fiber(thread, snapshot);
	return fiber && (thread->gvl == RCORE_GVL_WAITING ||
			 (fiber->wait && fiber->wait->kind == RCORE_WAIT_GVL));
}

/*
 * A Ractor has a GVL of its own, so the holder and its waiters belong to one
 * Ractor.
 */
static struct rcore_error *list_gvl_waiters(const struct rcore_snapshot *snapshot, int ractor,
					    struct rcore_fiber_list *ret)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < snapshot->thread_count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		if (thread->ractor == ractor && waits_for_gvl(snapshot, thread))
			err = rcore_fiber_list_add(ret, thread->current_fiber);
	}
	return err;
}

static void write_gvl(const struct rcore_snapshot *snapshot, const struct rcore_thread *holder,
		      const struct rcore_fiber_list *waiters, FILE *out)
{
	if (waiters->count) {
		rcore_summary_who(snapshot, waiters->items, waiters->count, "waits", "wait",
				  out);
		fprintf(out, " for the GVL held by %s", holder->id);
	} else {
		fprintf(out, "held by %s", holder->id);
	}
	if (holder->gvl_held_ns)
		fprintf(out, " for as long as rcore looked (%.0f ms)",
			(double)holder->gvl_held_ns / 1e6);
	rcore_summary_holder(snapshot, holder->current_fiber, out);
}

/* No thread waits for the GVL, but no other one ran while rcore looked. */
static struct rcore_error *add_gvl(struct rcore_summary *summary,
				   const struct rcore_thread *holder)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	struct rcore_fiber_list waiters = {0};
	char *text = NULL;
	size_t size;
	struct rcore_error *err = list_gvl_waiters(snapshot, holder->ractor, &waiters);
	if (!err && (waiters.count || holder->gvl_held_ns)) {
		const struct rcore_summary_line line = {
			.kind = RCORE_SUMMARY_GVL,
			.holder = holder->current_fiber,
			.fibers = waiters.items,
			.fiber_count = waiters.count,
		};
		FILE *out = rcore_open_text(&text, &size);
		if (out)
			write_gvl(snapshot, holder, &waiters, out);
		err = rcore_summary_add(summary, &line, out, &text);
	}
	free(waiters.items);
	return err;
}

static struct rcore_error *collect(struct rcore_summary *summary)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	struct rcore_error *err = list_deadlocks(summary);
	for (size_t i = 0; !err && i < snapshot->lock_count; i++)
		err = add_lock(summary, &snapshot->locks[i]);
	for (size_t i = 0; !err && i < snapshot->pool_count; i++)
		if (snapshot->pools[i].waiter_count &&
		    !is_deadlocked(summary, snapshot->pools[i].waiters,
				   snapshot->pools[i].waiter_count))
			err = add_connections(summary, &snapshot->pools[i]);
	if (!err)
		err = add_queues(summary);
	if (!err)
		err = rcore_summary_joins(summary);
	for (size_t i = 0; !err && i < snapshot->thread_count; i++)
		if (snapshot->threads[i].gvl == RCORE_GVL_HOLDER &&
		    !snapshot->threads[i].is_crashed &&
		    rcore_worker_fiber(&snapshot->threads[i], snapshot))
			err = add_gvl(summary, &snapshot->threads[i]);
	if (!err)
		err = rcore_summary_fibers(summary);
	return err ? err : rcore_summary_pools(summary);
}

/*
 * First what blocks others, then fibers and pools that work, then idle pools;
 * in each group, the largest first.
 */
static int rank(const struct rcore_summary_line *line)
{
	if (line->kind == RCORE_SUMMARY_FIBERS)
		return 1;
	return line->kind != RCORE_SUMMARY_POOL ? 0 : line->busy ? 1 : 2;
}

static int compare(const void *a, const void *b)
{
	const struct rcore_summary_line *one = a, *other = b;
	if (rank(one) != rank(other))
		return rank(one) - rank(other);
	if (one->fiber_count != other->fiber_count)
		return one->fiber_count < other->fiber_count ? 1 : -1;
	return (one->fiber_count ? one->fibers[0] : -1) -
	       (other->fiber_count ? other->fibers[0] : -1);
}

static struct rcore_error *keep(struct rcore_summary *summary)
{
	struct rcore_snapshot *snapshot = summary->snapshot;
	size_t count = summary->lines.count;
	if (!count)
		return NULL;
	qsort(summary->lines.items, count, sizeof(*summary->lines.items), compare);
	if (count > RCORE_SUMMARY_LINES)
		count = RCORE_SUMMARY_LINES;
	size_t size = count * sizeof(*snapshot->summary);
	snapshot->summary = rcore_arena_alloc(&snapshot->arena, size);
	if (!snapshot->summary)
		return rcore_error_no_memory();
	memcpy(snapshot->summary, summary->lines.items, size);
	snapshot->summary_count = count;
	return NULL;
}

struct rcore_error *rcore_summary_find(struct rcore_snapshot *snapshot)
{
	struct rcore_summary summary = {.snapshot = snapshot};
	struct rcore_error *err = collect(&summary);
	if (!err)
		err = keep(&summary);
	free(summary.deadlock_of);
	free(summary.lines.items);
	return err;
}
