/* SPDX-License-Identifier: MIT */
#include "triage/deadlock.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/text.h"
#include "model/wait_text.h"
#include "triage/summary_text.h"

/*
 * The edges of the graph lead from a fiber to the one without which it cannot
 * continue. A fiber has at most two: its wait, and REASON_THREAD. If it waits
 * for the interlock of Rails, it also has one edge to each holder; these are
 * numbered from REASONS on.
 */
enum reason {
	REASON_LOCK,
	REASON_JOIN,
	REASON_TASK,
	REASON_THREAD, /* its thread runs another fiber, which blocks it */
	REASONS,
};

enum visit { VISIT_NEW, VISIT_OPEN, VISIT_DONE };

struct step {
	int fiber;
	int next; /* the edge that is followed: enum reason, or a holder */
};

struct graph {
	struct rcore_snapshot *snapshot;
	unsigned char *visits; /* enum visit of each fiber */
	bool *reported;
	struct {
		struct step *items;
		size_t count, capacity;
	} path;
	struct {
		struct rcore_deadlock *items;
		size_t count, capacity;
	} found;
};

/*
 * Returns the fiber that a living thread runs, if its wait lets no other fiber
 * of the thread run. A wait in a hook of the scheduler is different: the
 * scheduler may resume other fibers. A wait for the GVL ends without them.
 */
static int blocker_of(const struct rcore_snapshot *snapshot, int thread)
{
	if (thread < 0 || snapshot->threads[thread].is_ended)
		return -1;
	int fiber = snapshot->threads[thread].current_fiber;
	const struct rcore_wait *wait = fiber < 0 ? NULL : snapshot->fibers[fiber].wait;
	return wait && !wait->hook && wait->kind != RCORE_WAIT_GVL ? fiber : -1;
}

/* Whether the wait ends by itself after some time. */
static bool has_limit(const struct rcore_wait *wait)
{
	return wait->is_timed || wait->within;
}

/* The fibers that keep this one from the interlock, for certain. */
static size_t interlock_edges(const struct rcore_snapshot *snapshot, int fiber, int *ret)
{
	const struct rcore_wait *wait = snapshot->fibers[fiber].wait;
	if (!wait || wait->kind != RCORE_WAIT_INTERLOCK || has_limit(wait) || !wait->wants)
		return 0;
	return rcore_interlock_holders(snapshot, wait, ret);
}

static int edge_count(const struct rcore_snapshot *snapshot, int fiber)
{
	int holders[RCORE_INTERLOCK_HOLDERS];
	return REASONS + (int)interlock_edges(snapshot, fiber, holders);
}

static int interlock_edge(const struct rcore_snapshot *snapshot, int fiber, int number)
{
	int holders[RCORE_INTERLOCK_HOLDERS];
	size_t count = interlock_edges(snapshot, fiber, holders);
	if ((size_t)number >= count)
		return -1;
	/* A thread holds the interlock, so its current fiber must continue. */
	int thread = snapshot->fibers[holders[number]].thread;
	/* ShareLock never makes a thread wait for itself. */
	return thread == snapshot->fibers[fiber].thread ? -1 : blocker_of(snapshot, thread);
}

static int edge(const struct rcore_snapshot *snapshot, int index, int reason)
{
	if (reason >= REASONS)
		return interlock_edge(snapshot, index, reason - REASONS);
	const struct rcore_fiber *fiber = &snapshot->fibers[index];
	const struct rcore_wait *wait = fiber->wait;
	switch (reason) {
	case REASON_LOCK:
		if (!rcore_wait_is_for_lock(wait) || has_limit(wait))
			return -1;
		return wait->owner.fiber >= 0 || wait->owner.address
			       ? wait->owner.fiber
			       : blocker_of(snapshot, wait->owner.thread);
	case REASON_JOIN:
		return wait && wait->kind == RCORE_WAIT_JOIN && !has_limit(wait)
			       ? blocker_of(snapshot, wait->thread)
			       : -1;
	case REASON_TASK:
		return wait &&
				       (wait->kind == RCORE_WAIT_TASK ||
					wait->kind == RCORE_WAIT_AUTOLOAD) &&
				       !has_limit(wait)
			       ? wait->owner.fiber
			       : -1;
	case REASON_THREAD:
		return fiber->is_current || fiber->status == RCORE_FIBER_TERMINATED
			       ? -1
			       : blocker_of(snapshot, fiber->thread);
	default:
		return -1;
	}
}

/*
 * Writes one fiber and why it cannot continue, without the next fiber's name.
 */
static void write_step(const struct rcore_snapshot *snapshot, const struct step *step, int next,
		       FILE *out)
{
	const struct rcore_wait *wait = snapshot->fibers[step->fiber].wait;
	if (step->next == REASON_THREAD) {
		fprintf(out, "cannot run before %s does", rcore_fiber_text(snapshot, next));
		return;
	}
	if (wait->kind == RCORE_WAIT_INTERLOCK)
		rcore_interlock_write(snapshot, wait, next, out);
	else
		rcore_wait_write(snapshot, wait, out);
	rcore_summary_current(snapshot, wait, next, out);
}

/* " in Cart#update (app/cart.rb:3)": the reader need not look for the frame. */
static void write_place(const struct rcore_fiber *fiber, FILE *out)
{
	const struct rcore_frame *place = rcore_summary_place(fiber);
	if (!place)
		return;
	fputs(" in ", out);
	rcore_summary_frame(place, true, out);
}

static const char *sentence(struct rcore_snapshot *snapshot, const struct step *steps,
			    size_t count, bool is_cycle)
{
	char *text = NULL;
	size_t size;
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return NULL;
	fputs(rcore_fiber_text(snapshot, steps[0].fiber), out);
	for (size_t i = 0; i < count; i++) {
		write_place(&snapshot->fibers[steps[i].fiber], out);
		putc(' ', out);
		if (is_cycle) {
			write_step(snapshot, &steps[i], steps[(i + 1) % count].fiber, out);
		} else {
			rcore_wait_write(snapshot, snapshot->fibers[steps[i].fiber].wait, out);
			fputs(" and never unlocked it", out);
		}
		if (i + 1 < count)
			fputs(", which", out);
	}
	const char *kept = fclose(out) ? NULL : rcore_arena_strdup(&snapshot->arena, text);
	free(text);
	return kept;
}

static struct rcore_error *report(struct graph *graph, const struct step *steps, size_t count,
				  bool is_cycle)
{
	struct rcore_snapshot *snapshot = graph->snapshot;
	struct rcore_deadlock *deadlock = rcore_push(&graph->found);
	if (!deadlock)
		return rcore_error_no_memory();
	deadlock->is_cycle = is_cycle;
	deadlock->count = count;
	deadlock->fibers = rcore_arena_alloc(&snapshot->arena, count * sizeof(int));
	deadlock->text = sentence(snapshot, steps, count, is_cycle);
	if (!deadlock->fibers || !deadlock->text)
		return rcore_error_no_memory();
	for (size_t i = 0; i < count; i++) {
		deadlock->fibers[i] = steps[i].fiber;
		graph->reported[steps[i].fiber] = true;
	}
	return NULL;
}

/*
 * Reports the cycle that ends the path: its last step leads back to `fiber`.
 * The sentence begins with the fiber that the snapshot lists first.
 */
static struct rcore_error *report_cycle(struct graph *graph, int fiber)
{
	size_t first = graph->path.count - 1;
	while (graph->path.items[first].fiber != fiber)
		first--;
	size_t count = graph->path.count - first, lowest = 0;
	const struct step *cycle = &graph->path.items[first];
	for (size_t i = 0; i < count; i++) {
		if (graph->reported[cycle[i].fiber])
			return NULL;
		if (cycle[i].fiber < cycle[lowest].fiber)
			lowest = i;
	}
	struct step *turned = calloc(count, sizeof(*turned));
	if (!turned)
		return rcore_error_no_memory();
	for (size_t i = 0; i < count; i++)
		turned[i] = cycle[(lowest + i) % count];
	struct rcore_error *err = report(graph, turned, count, true);
	free(turned);
	return err;
}

static bool enter(struct graph *graph, int fiber)
{
	struct step *step = rcore_push(&graph->path);
	if (!step)
		return false;
	step->fiber = fiber;
	graph->visits[fiber] = VISIT_OPEN;
	return true;
}

/*
 * Searches depth first, with the path on a stack of its own: a cycle may have
 * thousands of fibers.
 */
static struct rcore_error *search(struct graph *graph, int start)
{
	struct rcore_error *err = NULL;
	if (!enter(graph, start))
		return rcore_error_no_memory();
	while (!err && graph->path.count) {
		struct step *top = &graph->path.items[graph->path.count - 1];
		if (top->next == edge_count(graph->snapshot, top->fiber)) {
			graph->visits[top->fiber] = VISIT_DONE;
			graph->path.count--;
			if (graph->path.count)
				graph->path.items[graph->path.count - 1].next++;
			continue;
		}
		int next = edge(graph->snapshot, top->fiber, top->next);
		if (next >= 0 && graph->visits[next] == VISIT_NEW) {
			if (!enter(graph, next))
				err = rcore_error_no_memory();
			continue;
		}
		if (next >= 0 && graph->visits[next] == VISIT_OPEN)
			err = report_cycle(graph, next);
		top->next++;
	}
	return err;
}

/* Reports the fiber if it waits for a lock whose owner has ended. */
static struct rcore_error *dead_end(struct graph *graph, int fiber)
{
	const struct rcore_snapshot *snapshot = graph->snapshot;
	const struct rcore_wait *wait = snapshot->fibers[fiber].wait;
	if (!rcore_wait_is_for_lock(wait) || has_limit(wait) || graph->reported[fiber])
		return NULL;
	bool ended = wait->owner.fiber >= 0 ? snapshot->fibers[wait->owner.fiber].status ==
						      RCORE_FIBER_TERMINATED
					    : wait->owner.address != 0;
	struct step step = {.fiber = fiber};
	return ended ? report(graph, &step, 1, false) : NULL;
}

struct rcore_error *rcore_deadlocks_find(struct rcore_snapshot *snapshot)
{
	struct graph graph = {.snapshot = snapshot};
	struct rcore_error *err = NULL;
	graph.visits = rcore_calloc(snapshot->fiber_count, sizeof(*graph.visits));
	graph.reported = rcore_calloc(snapshot->fiber_count, sizeof(*graph.reported));
	if (!graph.visits || !graph.reported)
		err = rcore_error_no_memory();
	for (size_t i = 0; !err && i < snapshot->fiber_count; i++)
		if (graph.visits[i] == VISIT_NEW)
			err = search(&graph, (int)i);
	for (size_t i = 0; !err && i < snapshot->fiber_count; i++)
		err = dead_end(&graph, (int)i);
	if (!err && graph.found.count) {
		size_t size = graph.found.count * sizeof(*graph.found.items);
		snapshot->deadlocks = rcore_arena_alloc(&snapshot->arena, size);
		if (!snapshot->deadlocks) {
			err = rcore_error_no_memory();
		} else {
			memcpy(snapshot->deadlocks, graph.found.items, size);
			snapshot->deadlock_count = graph.found.count;
		}
	}
	free(graph.visits);
	free(graph.reported);
	free(graph.path.items);
	free(graph.found.items);
	return err;
}
