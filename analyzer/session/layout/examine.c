/* SPDX-License-Identifier: MIT */
#include "session/layout/examine.h"

#include <stdlib.h>

#include "session/explain.h"
#include "session/layout/field_checks.h"
#include "session/load.h"
#include "session/redact.h"
#include "session/live/running.h"
#include "session/weave.h"
#include "vm/problem.h"

/* What to find out. */
struct examination {
	struct rcore_session *session;
	bool checks_fields;
};

static struct rcore_error *look(const struct examination *examination,
				struct rcore_snapshot *snapshot)
{
	struct rcore_session *session = examination->session;
	struct rcore_error *err = rcore_session_look(session, snapshot);
	if (!err && examination->checks_fields)
		err = rcore_session_check_fields(&session->target, &session->located, snapshot);
	return err;
}

static struct rcore_error *examine_once(const struct examination *examination,
					struct rcore_snapshot **ret, struct rcore_error **error)
{
	struct rcore_session *session = examination->session;
	struct rcore_snapshot *snapshot;
	struct rcore_error *err = rcore_session_describe(session, &snapshot);
	if (err)
		return err;
	struct rcore_error *failure = look(examination, snapshot);
	err = rcore_session_explain_signal(&session->target, snapshot);
	if (!err)
		err = rcore_session_redact(&session->target, session->settings.redact,
					   session->redactor, snapshot);
	if (err) {
		rcore_error_free(failure);
		rcore_snapshot_free(snapshot);
		return err;
	}
	*ret = snapshot;
	*error = failure;
	return NULL;
}

/*
 * A running process may change during a proof. That rarely happens twice in a
 * row.
 */
static struct rcore_error *examine_running(const struct examination *examination,
					   struct rcore_snapshot **ret,
					   struct rcore_error **error)
{
	enum { LIVE_ATTEMPTS = 5 };
	struct rcore_live *live = examination->session->target.live;
	for (int left = live ? LIVE_ATTEMPTS : 1;; left--) {
		struct rcore_snapshot *snapshot;
		struct rcore_error *failure;
		if (live)
			rcore_live_forget(live);
		struct rcore_error *err = examine_once(examination, &snapshot, &failure);
		if (err)
			return err;
		if (left == 1 || (!failure && !snapshot->incomplete)) {
			*ret = snapshot;
			*error = failure;
			return NULL;
		}
		rcore_snapshot_free(snapshot);
		rcore_error_free(failure);
	}
}

/*
 * Only proofs of one moment count. The look before the stop shows which pages
 * to copy.
 */
static struct rcore_error *examine_stopped(const struct examination *examination,
					   struct rcore_snapshot **ret,
					   struct rcore_error **error)
{
	struct rcore_live *live = examination->session->target.live;
	struct rcore_live_pause pause;
	struct rcore_snapshot *before;
	struct rcore_error *failure;
	struct rcore_error *err = examine_running(examination, &before, &failure);
	if (err)
		return err;
	err = rcore_live_begin(live, true);
	/* it cannot be stopped, so keep what was read while it ran */
	if (err) {
		rcore_problem_add(before, err);
		*ret = before;
		*error = failure;
		return NULL;
	}
	rcore_snapshot_free(before);
	rcore_error_free(failure);
	err = examine_once(examination, ret, error);
	rcore_live_end(live, &pause);
	struct rcore_error *late =
		err ? NULL : rcore_running_in_time(examination->session, &pause);
	if (late)
		rcore_problem_add(*ret, late);
	return err;
}

static struct rcore_error *examine(const struct examination *examination,
				   struct rcore_snapshot **ret, struct rcore_error **error)
{
	struct rcore_session *session = examination->session;
	struct rcore_error *err = rcore_target_check_files(&session->target);
	if (err)
		return err;
	err = session->target.live && !session->settings.no_stop
		      ? examine_stopped(examination, ret, error)
		      : examine_running(examination, ret, error);
	if (err)
		return rcore_target_judge(&session->target, err);
	err = rcore_target_check_files(&session->target);
	if (err) {
		rcore_snapshot_free(*ret);
		rcore_error_free(*error);
	}
	return err;
}

/* Finds the function that runs the interpreter, unless that needs stacks. */
static struct rcore_error *find_activation(struct rcore_session *session,
					   struct rcore_snapshot *snapshot)
{
	struct rcore_target *target = &session->target;
	struct rcore_moment moment;
	if (rcore_session_known_activation(target, &session->located, snapshot) || target->pack)
		return NULL;
	struct rcore_error *err = rcore_session_read(session, &moment);
	if (!err) {
		rcore_snapshot_free(moment.snapshot);
		err = rcore_session_search_activation(target, &moment.instructions, snapshot);
	}
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	rcore_error_free(err);
	if (!snapshot->activation.address)
		snapshot->activation.source = RCORE_ACTIVATION_UNKNOWN;
	return NULL;
}

/*
 * Finds the debug files of all modules. Does nothing if DEBUGINFOD_URLS is set:
 * that would download all of them, but an analysis downloads only those that
 * stacks need.
 */
static struct rcore_error *find_debug_files(const struct rcore_target *target,
					    struct rcore_snapshot *snapshot)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	if (servers && *servers)
		return NULL;
	for (size_t i = 0; i < snapshot->module_count; i++) {
		struct rcore_module *module = rcore_modules_get(target->modules, i);
		const char *file = rcore_module_debug_file(target->modules, module);
		snapshot->modules[i].debug_file = rcore_arena_copy(&snapshot->arena, file);
		if (file && !snapshot->modules[i].debug_file)
			return rcore_error_no_memory();
	}
	return NULL;
}

struct rcore_error *rcore_examine(struct rcore_session *session, struct rcore_snapshot **ret,
				  struct rcore_error **error)
{
	const struct examination examination = {session, false};
	struct rcore_error *err = examine(&examination, ret, error);
	if (err)
		return err;
	err = find_debug_files(&session->target, *ret);
	if (!err && !*error && !session->settings.no_native)
		err = find_activation(session, *ret);
	if (err) {
		rcore_snapshot_free(*ret);
		rcore_error_free(*error);
	}
	return err;
}

struct rcore_error *rcore_check_layout(struct rcore_session *session,
				       struct rcore_snapshot **ret, struct rcore_error **error)
{
	const struct examination examination = {session, true};
	/* Most words of the structs that a pack contains are zeroes in it. */
	if (session->target.pack)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"a pack lacks most of what the checks read; check the "
			"core or the process that it was made from");
	return examine(&examination, ret, error);
}

struct rcore_error *rcore_session_examine_running(struct rcore_session *session,
						  struct rcore_snapshot **ret,
						  struct rcore_error **error)
{
	const struct examination examination = {session, false};
	return examine_running(&examination, ret, error);
}

struct rcore_error *rcore_session_find(struct rcore_session *session,
				       struct rcore_located **ret)
{
	struct rcore_snapshot *snapshot;
	struct rcore_error *failure = NULL;
	*ret = &session->located;
	if (session->located.is_found)
		return NULL;
	struct rcore_error *err = rcore_session_examine_running(session, &snapshot, &failure);
	if (err)
		return err;
	rcore_snapshot_free(snapshot);
	return failure;
}

struct rcore_error *rcore_load_partial(struct rcore_session *session,
				       struct rcore_snapshot **ret,
				       struct rcore_error **failure)
{
	const struct examination examination = {session, false};
	rcore_auto_error why = NULL;
	struct rcore_error *err = rcore_load(session, ret);
	if (!err) {
		*failure = NULL;
		return NULL;
	}
	if (session->target.live)
		return err;
	struct rcore_error *again = examine(&examination, ret, &why);
	if (again) {
		rcore_error_free(again);
		return err;
	}
	(*ret)->failure = rcore_arena_strdup(&(*ret)->arena, err->message);
	*failure = err;
	return NULL;
}
