/* SPDX-License-Identifier: MIT */
#include "session/live/running.h"

#include "session/load.h"
#include "session/pack/pack_heap.h"

/* How long the process may be stopped without --max-pause, in milliseconds. */
enum { DEFAULT_LIMIT_MS = 500 };

struct rcore_error *rcore_running_copy(struct rcore_session *session)
{
	struct rcore_live *live = session->target.live;
	struct rcore_copied *copied = &session->copied;
	struct rcore_live_pause pause;
	if (!live || copied->bytes)
		return NULL;
	if (!session->settings.max_pause_ms)
		rcore_live_limit(live, DEFAULT_LIMIT_MS);
	struct rcore_error *err = rcore_live_prepare_copy(live);
	if (!err) {
		rcore_running_check_gvl(session);
		rcore_running_time_gvl(session);
		err = rcore_live_copy_all(live, &copied->bytes, &pause);
	}
	if (err)
		return err;
	copied->pause_ns = pause.nanoseconds;
	copied->thread_count = pause.thread_count;
	copied->unstopped_count = pause.unstopped_count;
	/* From now on, the session is read like that of a core. */
	if (!session->settings.record_heap)
		session->read = NULL;
	return NULL;
}

/*
 * Reads what descriptors refer to as soon as the process has been resumed. The
 * rehearsal has found most of them; others are read when they are found.
 */
static struct rcore_error *copy_and_note(struct rcore_session *session,
					 const struct rcore_snapshot *first,
					 struct rcore_running_fds *fds)
{
	struct rcore_error *err = first ? rcore_running_fds_note(fds, first) : NULL;
	if (!err)
		err = rcore_running_copy(session);
	return err ? err : rcore_running_fds_read(fds, &session->target);
}

struct rcore_error *rcore_running_read_copy(struct rcore_session *session,
					    const struct rcore_snapshot *first,
					    struct rcore_moment *ret,
					    struct rcore_live_pause *pause)
{
	const struct rcore_copied *copied = &session->copied;
	struct rcore_running_fds fds = {0};
	struct rcore_error *err = copy_and_note(session, first, &fds);
	if (!err)
		err = rcore_session_record_heap(session);
	if (!err)
		err = rcore_session_read(session, ret);
	if (!err) {
		rcore_running_describe_gvl(session, ret->snapshot);
		err = rcore_running_fds_set(&fds, &session->target, ret->snapshot);
		if (err)
			rcore_snapshot_free(ret->snapshot);
	}
	*pause = (struct rcore_live_pause){.nanoseconds = copied->pause_ns,
					   .thread_count = copied->thread_count,
					   .unstopped_count = copied->unstopped_count};
	rcore_running_fds_deinit(&fds);
	return err;
}
