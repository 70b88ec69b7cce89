/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "session/running.h"
#include "base/clock.h"
#include "target/live/live.h"

static struct rcore_thread *holder_of(struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->threads[i].gvl == RCORE_GVL_HOLDER)
			return &snapshot->threads[i];
	return NULL;
}

/*
 * Up to 3.0, the tid of a thread is only known from its registers, when the
 * process is stopped.
 */
static void watch_all(struct rcore_session *session, const struct rcore_thread *holder)
{
	if (session->gvl.thread == holder->address)
		return;
	session->gvl.thread = holder->address;
	session->gvl.tid = 0;
	session->gvl.since = rcore_clock_ns();
	session->gvl.first_count = rcore_live_all_waits(session->target.live,
							session->gvl.first, RCORE_GVL_THREADS);
}

void rcore_running_watch_gvl(struct rcore_session *session, struct rcore_snapshot *snapshot)
{
	const struct rcore_thread *holder = holder_of(snapshot);
	uint64_t waits;
	if (holder && !holder->tid) {
		watch_all(session, holder);
		return;
	}
	if (!holder || !rcore_live_waits(session->target.live, holder->tid, &waits)) {
		session->gvl.thread = 0;
		return;
	}
	if (session->gvl.thread == holder->address && session->gvl.waits == waits)
		return;
	session->gvl.thread = holder->address;
	session->gvl.tid = holder->tid;
	session->gvl.waits = waits;
	session->gvl.since = rcore_clock_ns();
}

/* To be stopped counts as a wait, too, so the count is read before that. */
void rcore_running_check_gvl(struct rcore_session *session)
{
	uint64_t waits;
	if (session->gvl.thread && !session->gvl.tid)
		session->gvl.last_count = rcore_live_all_waits(
			session->target.live, session->gvl.last, RCORE_GVL_THREADS);
	else if (session->gvl.thread &&
		 (!rcore_live_waits(session->target.live, session->gvl.tid, &waits) ||
		  waits != session->gvl.waits))
		session->gvl.thread = 0;
}

void rcore_running_time_gvl(struct rcore_session *session)
{
	session->gvl.stopped = rcore_clock_ns();
}

static const struct rcore_live_thread_waits *find(const struct rcore_live_thread_waits *items,
						  size_t count, int tid)
{
	for (size_t i = 0; i < count; i++)
		if (items[i].tid == tid)
			return &items[i];
	return NULL;
}

/* Whether this thread has not waited since it was first seen with the GVL. */
static bool has_run(const struct rcore_session *session, int tid)
{
	const struct rcore_live_thread_waits *first, *last;
	if (session->gvl.tid)
		return true; /* or gvl.thread would be 0 */
	first = find(session->gvl.first, session->gvl.first_count, tid);
	last = find(session->gvl.last, session->gvl.last_count, tid);
	return tid && first && last && first->waits == last->waits;
}

void rcore_running_describe_gvl(const struct rcore_session *session,
				struct rcore_snapshot *snapshot)
{
	struct rcore_thread *holder = holder_of(snapshot);
	if (holder && session->gvl.thread == holder->address && has_run(session, holder->tid))
		holder->gvl_held_ns = session->gvl.stopped - session->gvl.since;
}
