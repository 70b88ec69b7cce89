/* SPDX-License-Identifier: MIT */
#include "session/load.h"
#include "session/live/running.h"
#include "vm/problem.h"

void rcore_running_describe(const struct rcore_live_facts *facts, size_t unstopped,
			    bool overdue, struct rcore_snapshot *snapshot)
{
	snapshot->live = *facts;
	if (unstopped)
		rcore_problem_add(snapshot,
				  rcore_error_create(RCORE_ERROR_OS,
						     "threads that were busy in the kernel and "
						     "did not stop in time: %zu; their native "
						     "stacks are not known",
						     unstopped));
	if (overdue)
		rcore_problem_add_cause(
			snapshot,
			rcore_error_create(
				RCORE_ERROR_LIMIT,
				"reading was not complete when the process was resumed after 2 "
				"s; write a core with `gcore %d` and analyze that",
				snapshot->pid));
}

static const char *packed_link(const struct rcore_packed_live *live, int fd)
{
	for (size_t i = 0; i < live->fd_count; i++)
		if (live->fds[i].fd == fd)
			return live->fds[i].link;
	return NULL;
}

/* The snapshot outlives the session. */
static struct rcore_error *take_fds(const struct rcore_packed_live *live,
				    struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_wait *wait = snapshot->fibers[i].wait;
		for (size_t j = 0; wait && j < wait->fd_count; j++) {
			const char *link = packed_link(live, wait->fds[j].fd);
			if (!link)
				continue;
			wait->fds[j].link = rcore_arena_strdup(&snapshot->arena, link);
			if (!wait->fds[j].link)
				return rcore_error_no_memory();
		}
	}
	return NULL;
}

static struct rcore_error *read_packed(struct rcore_session *session, struct rcore_moment *ret)
{
	const struct rcore_packed_live *live = &session->target.pack->live;
	struct rcore_error *err = rcore_session_read(session, ret);
	if (err)
		return err;
	err = take_fds(live, ret->snapshot);
	if (err)
		rcore_snapshot_free(ret->snapshot);
	else
		rcore_running_describe(&live->facts, live->unstopped_count, live->overdue,
				       ret->snapshot);
	return err;
}

void rcore_running_unpack(struct rcore_session *session)
{
	const struct rcore_pack_facts *pack = session->target.pack;
	if (!pack || !pack->live.facts.present)
		return;
	session->settings.no_stop = !pack->live.facts.stopped;
	session->read = read_packed;
}
