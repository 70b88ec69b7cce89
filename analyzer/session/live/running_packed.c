/* SPDX-License-Identifier: MIT */
#include "base/address_map.h"
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

/* Of several entries for one descriptor, the first counts. */
static bool index_fds(const struct rcore_packed_live *live, struct rcore_address_map *index)
{
	for (size_t i = 0; i < live->fd_count; i++) {
		if (!rcore_address_map_put_first(index, (uint64_t)live->fds[i].fd, (int)i))
			return false;
	}
	return true;
}

/* The snapshot outlives the session. */
static bool take_fd(const struct rcore_packed_live *live, const struct rcore_address_map *index,
		    struct rcore_snapshot *snapshot, struct rcore_wait_fd *to)
{
	int found = rcore_address_map_get(index, (uint64_t)to->fd);
	if (found < 0 || !live->fds[found].link)
		return true;
	to->link = rcore_arena_strdup(&snapshot->arena, live->fds[found].link);
	return to->link;
}

static struct rcore_error *take_fds(const struct rcore_packed_live *live,
				    struct rcore_snapshot *snapshot)
{
	struct rcore_address_map index = {0};
	bool fine = index_fds(live, &index);
	for (size_t i = 0; fine && i < snapshot->fiber_count; i++) {
		struct rcore_wait *wait = snapshot->fibers[i].wait;
		for (size_t j = 0; fine && wait && j < wait->fd_count; j++)
			fine = take_fd(live, &index, snapshot, &wait->fds[j]);
	}
	rcore_address_map_deinit(&index);
	return fine ? NULL : rcore_error_no_memory();
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
