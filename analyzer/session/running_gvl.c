/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "session/running.h"
#include "base/clock.h"
#include "target/live/live.h"

static struct rcore_thread *holder_of(struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->threads[i].gvl == RCORE_GVL_HOLDER && snapshot->threads[i].tid)
			return &snapshot->threads[i];
	return NULL;
}

void rcore_running_watch_gvl(struct rcore_session *session, struct rcore_snapshot *snapshot)
{
	const struct rcore_thread *holder = holder_of(snapshot);
	uint64_t waits;
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
	if (session->gvl.thread &&
	    (!rcore_live_waits(session->target.live, session->gvl.tid, &waits) ||
	     waits != session->gvl.waits))
		session->gvl.thread = 0;
}

void rcore_running_time_gvl(struct rcore_session *session)
{
	session->gvl.stopped = rcore_clock_ns();
}

void rcore_running_describe_gvl(const struct rcore_session *session,
				struct rcore_snapshot *snapshot)
{
	struct rcore_thread *holder = holder_of(snapshot);
	if (holder && session->gvl.thread == holder->address)
		holder->gvl_held_ns = session->gvl.stopped - session->gvl.since;
}
