/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "model/wait_text.h"
#include "triage/activity.h"
#include "triage/summary_lines.h"
#include "triage/summary_text.h"
#include "triage/wait_peer.h"
#include "triage/workers.h"

/*
 * What the threads of a pool do, and the fibers of a scheduler. Threads are a
 * pool if they were started with the same block, such as those of Puma, of
 * Sidekiq, of concurrent-ruby, and of the application.
 */

/* How many activities a line names, and how many are kept apart. */
enum { SHOWN = 3, KNOWN = 64 };

/* What working threads do: the verb for one thread, and for several. */
static const char *const wait_verbs[RCORE_WAIT_KINDS][2] = {
	[RCORE_WAIT_MUTEX] = {"waits for a Mutex", "wait for a Mutex"},
	[RCORE_WAIT_MONITOR] = {"waits for a Monitor", "wait for a Monitor"},
	[RCORE_WAIT_POP] = {"waits for an item of a Queue", "wait for an item of a Queue"},
	[RCORE_WAIT_PUSH] = {"waits for room in a SizedQueue", "wait for room in a SizedQueue"},
	[RCORE_WAIT_CONDITION] = {"waits for a ConditionVariable",
				  "wait for a ConditionVariable"},
	[RCORE_WAIT_JOIN] = {"waits for a thread", "wait for a thread"},
	[RCORE_WAIT_SLEEP] = {"sleeps", "sleep"},
	[RCORE_WAIT_STOP] = {"is stopped", "are stopped"},
	[RCORE_WAIT_IO] = {"waits for IO", "wait for IO"},
	[RCORE_WAIT_PROCESS] = {"waits for a process", "wait for a process"},
	[RCORE_WAIT_RACTOR] = {"waits for a Ractor", "wait for a Ractor"},
	[RCORE_WAIT_GVL] = {"waits for the GVL", "wait for the GVL"},
	[RCORE_WAIT_SCHEDULER] = {"waits in the fiber scheduler",
				  "wait in the fiber scheduler"},
	[RCORE_WAIT_SYSCALL] = {"is in a system call", "are in a system call"},
	[RCORE_WAIT_CONNECTION] = {"waits for a connection", "wait for a connection"},
	[RCORE_WAIT_SEMAPHORE] = {"waits for a semaphore", "wait for a semaphore"},
	[RCORE_WAIT_AUTOLOAD] = {"waits for an autoload", "wait for an autoload"},
	[RCORE_WAIT_INTERLOCK] = {"waits for the Rails interlock",
				  "wait for the Rails interlock"},
	[RCORE_WAIT_TASK] = {"waits for a task", "wait for a task"},
	[RCORE_WAIT_RESOLVE] = {"resolves a host's name", "resolve a host's name"},
};
static const char *const run_verbs[2] = {"runs", "run"};

/*
 * Working threads that do the same in the same method or block of the
 * application.
 */
struct activity {
	const struct rcore_frame *frame; /* NULL: in no such method */
	int wait;                        /* of rcore_wait_kind; -1: it runs */
	const char *what;                /* "a regexp match"; NULL: unknown */
	size_t count;
	bool one_line; /* all are at the same line */
	/* All wait for the same peer; all resolve the same name. */
	bool one_peer, one_name;
	int first; /* fiber */
};

struct activities {
	struct activity *items;
	size_t count, capacity;
	size_t rest; /* threads that do something else */
};

static bool is_same(const struct activity *a, const struct activity *b)
{
	return a->wait == b->wait && a->what == b->what && !a->frame == !b->frame &&
	       (!a->frame || a->frame->iseq == b->frame->iseq);
}

static bool is_same_name(const struct rcore_wait *a, const struct rcore_wait *b)
{
	return a && b && a->kind == RCORE_WAIT_RESOLVE && b->kind == a->kind && a->argument &&
	       rcore_same_text(a->argument, b->argument);
}

static void compare_details(struct activity *known, const struct activity *does,
			    const struct rcore_snapshot *snapshot)
{
	const int both[] = {known->first, does->first};
	if (does->frame && does->frame->line != known->frame->line)
		known->one_line = false;
	if (known->one_peer && !rcore_waits_same_peer(snapshot, both, RCORE_COUNT(both)))
		known->one_peer = false;
	if (known->one_name && !is_same_name(snapshot->fibers[known->first].wait,
					     snapshot->fibers[does->first].wait))
		known->one_name = false;
}

static struct rcore_error *count_activity(struct activities *activities,
					  const struct rcore_snapshot *snapshot, int index)
{
	const struct rcore_fiber *fiber = &snapshot->fibers[index];
	const struct activity does = {
		.frame = rcore_application_frame(fiber),
		.wait = fiber->wait ? (int)fiber->wait->kind : -1,
		.what = fiber->wait ? NULL : rcore_activity_of(fiber).what,
		.count = 1,
		.one_line = true,
		.one_peer = rcore_waits_same_peer(snapshot, &index, 1),
		.one_name = is_same_name(fiber->wait, fiber->wait),
		.first = index,
	};
	for (size_t i = 0; i < activities->count; i++) {
		struct activity *known = &activities->items[i];
		if (!is_same(known, &does))
			continue;
		known->count++;
		compare_details(known, &does, snapshot);
		return NULL;
	}
	if (activities->count == KNOWN) {
		activities->rest++;
		return NULL;
	}
	struct activity *added = rcore_push(activities);
	if (!added)
		return rcore_error_no_memory();
	*added = does;
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const struct activity *one = a, *other = b;
	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return one->first - other->first;
}

static void write_verb(const struct activity *activity, const struct rcore_snapshot *snapshot,
		       FILE *out)
{
	const struct rcore_wait *wait = snapshot->fibers[activity->first].wait;
	bool plural = activity->count > 1;
	if (activity->one_peer) {
		rcore_wait_peer_write(wait, plural, out);
	} else if (activity->one_name) {
		fputs(plural ? "resolve the name " : "resolves the name ", out);
		rcore_escape_write(out, wait->argument);
	} else {
		fputs((activity->wait < 0 ? run_verbs : wait_verbs[activity->wait])[plural],
		      out);
		if (activity->what)
			fprintf(out, " %s", activity->what);
	}
}

static void write_activities(struct activities *activities,
			     const struct rcore_snapshot *snapshot, size_t idle, FILE *out)
{
	const char *before = ":";
	size_t rest = activities->rest;
	if (activities->count)
		qsort(activities->items, activities->count, sizeof(*activities->items),
		      compare);
	for (size_t i = 0; i < activities->count; i++) {
		const struct activity *activity = &activities->items[i];
		if (i >= SHOWN) {
			rest += activity->count;
			continue;
		}
		fprintf(out, "%s %zu ", before, activity->count);
		write_verb(activity, snapshot, out);
		if (activity->frame) {
			fputs(" in ", out);
			rcore_summary_frame(activity->frame, activity->one_line, out);
		}
		before = ",";
	}
	if (rest)
		fprintf(out, "%s %zu elsewhere", before, rest);
	if (idle && !activities->count)
		fputs(": all idle", out);
	else if (idle)
		fprintf(out, ", %zu idle", idle);
}

static const struct rcore_thread *thread_of(const struct rcore_snapshot *snapshot, int fiber)
{
	return &snapshot->threads[snapshot->fibers[fiber].thread];
}

static struct rcore_error *count_activities(struct activities *activities,
					    const struct rcore_snapshot *snapshot,
					    const struct rcore_fiber_list *working)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < working->count; i++)
		err = count_activity(activities, snapshot, working->items[i]);
	return err;
}

static struct rcore_error *add_pool(struct rcore_summary *summary,
				    const struct rcore_fibers_at *pool)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	const struct rcore_summary_line line = {
		.kind = RCORE_SUMMARY_POOL,
		.holder = -1,
		.fibers = pool->all.items,
		.fiber_count = pool->all.count,
		.busy = pool->working.count,
	};
	const struct rcore_frame *start =
		rcore_worker_start(thread_of(snapshot, pool->all.items[0]), snapshot);
	struct activities activities = {0};
	char *text = NULL;
	size_t size;
	struct rcore_error *err = count_activities(&activities, snapshot, &pool->working);
	if (!err) {
		FILE *out = rcore_open_text(&text, &size);
		if (out) {
			fprintf(out, "%zu threads started in ", line.fiber_count);
			rcore_escape_write(
				out, start->label ? rcore_method_of_label(start->label) : "?");
			write_activities(&activities, snapshot, line.fiber_count - line.busy,
					 out);
		}
		err = rcore_summary_add(summary, &line, out, &text);
	}
	free(activities.items);
	return err;
}

/* Whether each of them waits for something that has a line of its own. */
static bool has_lines(const struct rcore_snapshot *snapshot,
		      const struct rcore_fiber_list *fibers)
{
	for (size_t i = 0; i < fibers->count; i++)
		if (!rcore_wait_is_blocked(snapshot->fibers[fibers->items[i]].wait))
			return false;
	return true;
}

static bool is_parked(const struct rcore_fiber *fiber)
{
	return fiber->status == RCORE_FIBER_SUSPENDED && !fiber->is_current && fiber->wait &&
	       rcore_application_frame(fiber);
}

static struct rcore_error *add_parked(struct rcore_summary *summary,
				      const struct rcore_fiber_list *parked)
{
	const struct rcore_summary_line line = {
		.kind = RCORE_SUMMARY_FIBERS,
		.holder = -1,
		.fibers = parked->items,
		.fiber_count = parked->count,
	};
	struct activities activities = {0};
	char *text = NULL;
	size_t size;
	struct rcore_error *err = count_activities(&activities, summary->snapshot, parked);
	if (!err) {
		FILE *out = rcore_open_text(&text, &size);
		if (out) {
			fprintf(out, "%zu parked", parked->count);
			write_activities(&activities, summary->snapshot, 0, out);
		}
		err = rcore_summary_add(summary, &line, out, &text);
	}
	free(activities.items);
	return err;
}

struct rcore_error *rcore_summary_fibers(struct rcore_summary *summary)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	struct rcore_fiber_list parked = {0};
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < snapshot->fiber_count; i++)
		if (is_parked(&snapshot->fibers[i]))
			err = rcore_fiber_list_add(&parked, (int)i);
	if (!err && parked.count > 1 && !has_lines(snapshot, &parked))
		err = add_parked(summary, &parked);
	free(parked.items);
	return err;
}

struct rcore_error *rcore_summary_pools(struct rcore_summary *summary)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	struct rcore_fibers_by_address pools = {0};
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < snapshot->thread_count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		const struct rcore_frame *start =
			rcore_worker_fiber(thread, snapshot) && !thread->is_main
				? rcore_worker_start(thread, snapshot)
				: NULL;
		if (start)
			err = rcore_fibers_by_address_add(
				&pools, start->iseq, thread->current_fiber, !thread->is_idle);
	}
	for (size_t i = 0; !err && i < pools.count; i++)
		if (pools.items[i].all.count > 1 && !has_lines(snapshot, &pools.items[i].all))
			err = add_pool(summary, &pools.items[i]);
	rcore_fibers_by_address_deinit(&pools);
	return err;
}
