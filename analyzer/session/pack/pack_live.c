/* SPDX-License-Identifier: MIT */
#include "session/pack/pack_live.h"

#include <stdlib.h>

#include "base/address_map.h"
#include "base/grow.h"

static bool add_segments(const struct rcore_live *live, struct rcore_pack_live *ret)
{
	struct rcore_segment segment;
	for (size_t i = 0; rcore_live_segment(live, i, &segment); i++) {
		struct rcore_segment *added = rcore_push(&ret->segments);
		if (!added)
			return false;
		*added = segment;
	}
	return true;
}

static bool add_unstopped(const struct rcore_process *process, struct rcore_pack_live *ret)
{
	for (size_t i = 0; i < process->thread_count; i++) {
		if (process->threads[i].has_registers)
			continue;
		int *tid = rcore_push(&ret->unstopped);
		if (!tid)
			return false;
		*tid = process->threads[i].tid;
	}
	return true;
}

/* All fibers that wait for a descriptor wait for the same file. */
static bool add_fd(const struct rcore_wait_fd *fd, struct rcore_address_map *known,
		   struct rcore_pack_live *ret)
{
	if (!fd->link || rcore_address_map_get(known, (uint64_t)fd->fd) >= 0)
		return true;
	struct rcore_packed_fd *added = rcore_push(&ret->fds);
	if (!added)
		return false;
	*added = (struct rcore_packed_fd){fd->fd, fd->link};
	return rcore_address_map_put(known, (uint64_t)fd->fd, 0);
}

static bool add_fds(const struct rcore_snapshot *snapshot, struct rcore_pack_live *ret)
{
	struct rcore_address_map known = {0};
	bool fine = true;
	for (size_t i = 0; fine && i < snapshot->fiber_count; i++) {
		const struct rcore_wait *wait = snapshot->fibers[i].wait;
		for (size_t j = 0; fine && wait && j < wait->fd_count; j++)
			fine = add_fd(&wait->fds[j], &known, ret);
	}
	rcore_address_map_deinit(&known);
	return fine;
}

bool rcore_pack_live_init(const struct rcore_session *session,
			  const struct rcore_snapshot *snapshot, struct rcore_pack_live *ret)
{
	const struct rcore_target *target = &session->target;
	const struct rcore_process *process = target->process;
	*ret = (struct rcore_pack_live){0};
	if (target->live &&
	    (!rcore_process_notes(process, &ret->notes) || !add_segments(target->live, ret)))
		return false;
	if (!add_fds(snapshot, ret) || (snapshot->live.stopped && !add_unstopped(process, ret)))
		return false;
	ret->packed = (struct rcore_packed_live){
		.facts = snapshot->live,
		.overdue = target->pack ? target->pack->live.overdue : session->overdue,
		.arguments = snapshot->arguments,
		.unstopped = ret->unstopped.items,
		.unstopped_count = ret->unstopped.count,
		.fds = ret->fds.items,
		.fd_count = ret->fds.count,
	};
	return true;
}

void rcore_pack_live_deinit(struct rcore_pack_live *live)
{
	free(live->notes.items);
	free(live->segments.items);
	free(live->unstopped.items);
	free(live->fds.items);
}
