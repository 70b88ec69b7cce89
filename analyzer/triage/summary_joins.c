/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/grow.h"
#include "base/text.h"
#include "model/wait_text.h"
#include "triage/summary_lines.h"
#include "triage/summary_text.h"
#include "triage/workers.h"

/*
 * Threads that wait for the end of a thread that is itself blocked. If it is
 * not blocked, there is no line, because many main threads wait like this, and
 * the stack of the other thread shows what it does.
 */

static bool is_join(const struct rcore_wait *wait)
{
	return wait && wait->kind == RCORE_WAIT_JOIN;
}

/* Marks the fibers that need no line, because another line leads to them. */
static bool *list_followed(const struct rcore_snapshot *snapshot)
{
	bool *followed = rcore_calloc(snapshot->fiber_count, sizeof(*followed));
	for (size_t i = 0; followed && i < snapshot->fiber_count; i++) {
		const struct rcore_wait *wait = snapshot->fibers[i].wait;
		int next = is_join(wait) || rcore_wait_is_for_lock(wait)
				   ? rcore_waited_fiber(snapshot, (int)i)
				   : -1;
		if (next >= 0)
			followed[next] = true;
	}
	return followed;
}

/* Whether the thread that it waits for is blocked. */
static bool is_chain(const struct rcore_snapshot *snapshot, int fiber)
{
	int next = rcore_waited_fiber(snapshot, fiber);
	return next >= 0 && (rcore_waited_fiber(snapshot, next) >= 0 ||
			     rcore_wait_is_blocked(snapshot->fibers[next].wait));
}

static struct rcore_error *add_join(struct rcore_summary *summary,
				    const struct rcore_fibers_at *found)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	const struct rcore_wait *wait = snapshot->fibers[found->all.items[0]].wait;
	struct rcore_summary_line line = {
		.kind = RCORE_SUMMARY_JOIN,
		.object = wait->object,
		.holder = -1,
		.fibers = found->all.items,
		.fiber_count = found->all.count,
	};
	int joined = rcore_waited_fiber(snapshot, line.fibers[0]);
	char *text = NULL;
	size_t size;
	if (!rcore_wait_chain(snapshot, joined, &line.holder))
		line.holder = joined;
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return rcore_error_no_memory();
	rcore_summary_who(snapshot, line.fibers, line.fiber_count, "waits", "wait", out);
	fprintf(out, " for the end of %s", snapshot->threads[wait->thread].id);
	rcore_summary_current(snapshot, wait, joined, out);
	rcore_summary_holder(snapshot, joined, out);
	rcore_summary_places(snapshot, line.fibers, line.fiber_count, out);
	return rcore_summary_add(summary, &line, out, &text);
}

struct rcore_error *rcore_summary_joins(struct rcore_summary *summary)
{
	const struct rcore_snapshot *snapshot = summary->snapshot;
	struct rcore_fibers_by_address threads = {0};
	struct rcore_error *err = NULL;
	bool *followed = list_followed(snapshot);
	if (!followed)
		return rcore_error_no_memory();
	for (size_t i = 0; !err && i < snapshot->fiber_count; i++) {
		const struct rcore_wait *wait = snapshot->fibers[i].wait;
		if (is_join(wait) && !followed[i] && summary->deadlock_of[i] < 0 &&
		    is_chain(snapshot, (int)i))
			err = rcore_fibers_by_address_add(&threads, (uint64_t)wait->thread + 1,
							  (int)i, false);
	}
	for (size_t i = 0; !err && i < threads.count; i++)
		err = add_join(summary, &threads.items[i]);
	rcore_fibers_by_address_deinit(&threads);
	free(followed);
	return err;
}
