/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "triage/summary_lines.h"
#include "triage/summary_text.h"
#include "triage/workers.h"

/*
 * What the threads of a pool do. Threads make a pool if they were started with
 * the same block: those of Puma, of Sidekiq, of concurrent-ruby, and those of
 * the application.
 */

/* How many methods of the application are named, most threads first. */
enum { METHODS = 3 };

/*
 * Working threads by the method, or block, of the application that they are in.
 */
struct method {
	const struct rcore_frame *frame; /* NULL: in none */
	size_t count;
	bool one_line; /* all of them are at the same line */
};

struct methods {
	struct method *items;
	size_t count, capacity;
};

static struct rcore_error *count_method(struct methods *methods,
					const struct rcore_frame *frame)
{
	for (size_t i = 0; i < methods->count; i++) {
		struct method *method = &methods->items[i];
		if (!frame != !method->frame || (frame && frame->iseq != method->frame->iseq))
			continue;
		method->count++;
		method->one_line =
			method->one_line && (!frame || frame->line == method->frame->line);
		return NULL;
	}
	struct method *method = rcore_push(methods);
	if (!method)
		return rcore_error_no_memory();
	*method = (struct method){frame, 1, true};
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const struct method *one = a, *other = b;
	return (one->count < other->count) - (one->count > other->count);
}

static void write_methods(struct methods *methods, FILE *out)
{
	size_t rest = 0;
	qsort(methods->items, methods->count, sizeof(*methods->items), compare);
	for (size_t i = 0; i < methods->count; i++) {
		const struct method *method = &methods->items[i];
		if (i >= METHODS) {
			rest += method->count;
			continue;
		}
		fprintf(out, "%s %zu in ", i ? "," : ":", method->count);
		if (method->frame)
			rcore_summary_frame(method->frame, method->one_line, out);
		else
			fputs("gems or Ruby's library", out);
	}
	if (rest)
		fprintf(out, ", %zu elsewhere", rest);
}

static const struct rcore_thread *thread_of(const struct rcore_snapshot *snapshot, int fiber)
{
	return &snapshot->threads[snapshot->fibers[fiber].thread];
}

static void write_pool(const struct rcore_snapshot *snapshot,
		       const struct rcore_fibers_at *pool, struct methods *methods, FILE *out)
{
	const struct rcore_frame *start =
		rcore_worker_start(thread_of(snapshot, pool->all.items[0]), snapshot);
	size_t busy = pool->working.count;
	if (busy)
		fprintf(out, "%zu of", busy);
	else
		fputs("all", out);
	fprintf(out, " %zu threads started in ", pool->all.count);
	rcore_escape_write(out, start->label ? rcore_method_of_label(start->label) : "?");
	fputs(busy == 0 ? " are idle" : busy == 1 ? " is busy" : " are busy", out);
	write_methods(methods, out);
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
	struct methods methods = {0};
	struct rcore_error *err = NULL;
	char *text = NULL;
	size_t size;
	for (size_t i = 0; !err && i < pool->working.count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[pool->working.items[i]];
		err = count_method(&methods, rcore_application_frame(fiber));
	}
	if (!err) {
		FILE *out = open_memstream(&text, &size);
		if (out)
			write_pool(snapshot, pool, &methods, out);
		err = rcore_summary_add(summary, &line, out, &text);
	}
	free(methods.items);
	return err;
}

/* Whether each of them waits for something that has a line of its own. */
static bool has_lines(const struct rcore_snapshot *snapshot,
		      const struct rcore_fiber_list *fibers)
{
	for (size_t i = 0; i < fibers->count; i++) {
		const struct rcore_wait *wait = snapshot->fibers[fibers->items[i]].wait;
		if (!wait ||
		    (wait->kind != RCORE_WAIT_MUTEX && wait->kind != RCORE_WAIT_MONITOR &&
		     wait->kind != RCORE_WAIT_PUSH))
			return false;
	}
	return true;
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
				&pools, start->iseq, thread->current_fiber,
				!rcore_worker_is_idle(thread, snapshot));
	}
	for (size_t i = 0; !err && i < pools.count; i++)
		if (pools.items[i].all.count > 1 && !has_lines(snapshot, &pools.items[i].all))
			err = add_pool(summary, &pools.items[i]);
	rcore_fibers_by_address_deinit(&pools);
	return err;
}
