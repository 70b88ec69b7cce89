/* SPDX-License-Identifier: MIT */
#include "session/live/running.h"

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
	if (!err)
		err = rcore_live_copy_all(live, &copied->bytes, &pause);
	if (err)
		return err;
	copied->pause_ns = pause.nanoseconds;
	copied->unstopped_count = pause.unstopped_count;
	/* From now on, the session is read like that of a core. */
	session->read = NULL;
	return NULL;
}
