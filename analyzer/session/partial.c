/* SPDX-License-Identifier: MIT */
#include "session/session.h"

struct rcore_error *rcore_load_partial(struct rcore_session *session,
				       struct rcore_snapshot **ret,
				       struct rcore_error **failure)
{
	rcore_auto_error why = NULL;
	struct rcore_error *err = rcore_load(session, ret);
	if (!err) {
		*failure = NULL;
		return NULL;
	}
	if (session->live)
		return err;
	struct rcore_error *again = rcore_session_examine(session, ret, &why);
	if (again) {
		rcore_error_free(again);
		return err;
	}
	(*ret)->failure = rcore_arena_strdup(&(*ret)->arena, err->message);
	*failure = err;
	return NULL;
}
