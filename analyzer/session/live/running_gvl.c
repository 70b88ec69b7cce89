/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "session/live/running.h"
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
 * process is stopped. So all threads are watched. For a thread that is new or
 * has waited, the time since `begin` counts; if `begin` is 0, none does.
 */
static void watch_all(struct rcore_session *session, uint64_t begin)
{
	struct rcore_live_thread_waits now[RCORE_GVL_THREADS];
	uint64_t since[RCORE_GVL_THREADS] = {0};
	size_t count = rcore_live_all_waits(session->target.live, now, RCORE_GVL_THREADS);
	for (size_t i = 0; i < count; i++) {
		since[i] = begin;
		for (size_t j = 0; j < session->gvl.thread_count; j++)
			if (session->gvl.threads[j].tid == now[i].tid &&
			    session->gvl.threads[j].waits == now[i].waits)
				since[i] = session->gvl.same_since[j];
	}
	memcpy(session->gvl.threads, now, count * sizeof(*now));
	memcpy(session->gvl.same_since, since, count * sizeof(*since));
	session->gvl.thread_count = count;
}

static void begin_watching_all(struct rcore_session *session, uint64_t thread)
{
	if (session->gvl.thread != thread || session->gvl.tid)
		session->gvl.thread_count = 0;
	session->gvl.thread = thread;
	session->gvl.tid = 0;
	watch_all(session, rcore_clock_ns());
}

void rcore_running_watch_gvl(struct rcore_session *session, struct rcore_snapshot *snapshot)
{
	const struct rcore_thread *holder = holder_of(snapshot);
	uint64_t waits;
	if (holder && !holder->tid) {
		begin_watching_all(session, holder->address);
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

/* Being stopped counts as a wait, too, so the count is read before that. */
void rcore_running_check_gvl(struct rcore_session *session)
{
	uint64_t waits;
	if (session->gvl.thread && !session->gvl.tid)
		watch_all(session, 0);
	else if (session->gvl.thread &&
		 (!rcore_live_waits(session->target.live, session->gvl.tid, &waits) ||
		  waits != session->gvl.waits))
		session->gvl.thread = 0;
}

void rcore_running_time_gvl(struct rcore_session *session)
{
	session->gvl.stopped = rcore_clock_ns();
}

/* Returns when a thread got the GVL, in nanoseconds; 0: unknown. */
static uint64_t held_since(const struct rcore_session *session, int tid)
{
	if (session->gvl.tid)
		return session->gvl.since;
	for (size_t i = 0; i < session->gvl.thread_count; i++)
		if (tid && session->gvl.threads[i].tid == tid)
			return session->gvl.same_since[i];
	return 0;
}

void rcore_running_describe_gvl(const struct rcore_session *session,
				struct rcore_snapshot *snapshot)
{
	struct rcore_thread *holder = holder_of(snapshot);
	uint64_t since = holder && session->gvl.thread == holder->address
				 ? held_since(session, holder->tid)
				 : 0;
	if (since)
		holder->gvl_held_ns = session->gvl.stopped - since;
}
