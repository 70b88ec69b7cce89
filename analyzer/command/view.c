/* SPDX-License-Identifier: MIT */
#include "command/command.h"

#include "base/text.h"

void rcore_view_print(struct rcore_view *view)
{
	if (view->done_reading)
		view->done_reading();
}

void rcore_view_note_gaps(struct rcore_view *view, const struct rcore_snapshot *snapshot)
{
	char escaped[400];
	view->is_partial = snapshot->incomplete;
	view->gap[0] = 0;
	if (snapshot->incomplete && snapshot->problem_count)
		snprintf(view->gap, sizeof(view->gap), "not everything could be read: %s",
			 rcore_escape(escaped, sizeof(escaped), snapshot->problems[0]));
	else if (snapshot->incomplete)
		snprintf(view->gap, sizeof(view->gap),
			 "not everything could be decoded; `rcore analyze` marks what is "
			 "missing");
}

struct rcore_error *rcore_view_load(struct rcore_view *view, const struct rcore_snapshot **ret,
				    struct rcore_error **failure)
{
	if (!view->snapshot) {
		struct rcore_error *err =
			rcore_load_partial(view->session, &view->snapshot, &view->failure);
		if (err)
			return err;
	}
	rcore_view_print(view);
	rcore_view_note_gaps(view, view->snapshot);
	*ret = view->snapshot;
	*failure = view->failure ? rcore_error_create(view->failure->code, "%s",
						      view->failure->message)
				 : NULL;
	return NULL;
}

struct rcore_error *rcore_view_need(struct rcore_view *view, const struct rcore_snapshot **ret)
{
	struct rcore_error *failure = NULL;
	struct rcore_error *err = rcore_view_load(view, ret, &failure);
	return err ? err : failure;
}

void rcore_view_deinit(struct rcore_view *view)
{
	rcore_snapshot_free(view->snapshot);
	rcore_error_free(view->failure);
	view->snapshot = NULL;
	view->failure = NULL;
}
