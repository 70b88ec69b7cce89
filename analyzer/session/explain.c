/* SPDX-License-Identifier: MIT */
#include "session/explain.h"

#include "triage/cause.h"
#include "triage/deadlock.h"
#include "triage/summary.h"
#include "triage/triage.h"
#include "triage/workers.h"

static void find_fault(const struct rcore_target *target, struct rcore_located *located,
		       struct rcore_snapshot *snapshot, struct rcore_original *ret)
{
	struct rcore_ruby ruby;
	rcore_reader_init(&ruby, target, located, &snapshot->arena);
	rcore_session_fault(target, &ruby, snapshot, ret);
	rcore_reader_deinit(&ruby, located);
}

struct rcore_error *rcore_session_explain(const struct rcore_target *target,
					  struct rcore_located *located, bool hides_text,
					  bool merge_similar, struct rcore_snapshot *snapshot)
{
	struct rcore_original original = {0};
	/* A running process has not died: there is no fault to find. */
	if (!rcore_target_was_alive(target))
		find_fault(target, located, snapshot, &original);
	rcore_session_last_words(target, hides_text, snapshot);
	struct rcore_error *err = rcore_triage(
		target->process, original.present ? &original.frame : NULL, snapshot);
	if (!err)
		err = rcore_deadlocks_find(snapshot);
	rcore_idle_threads_find(snapshot);
	if (!err)
		err = rcore_thread_groups_find(snapshot, merge_similar);
	return err ? err : rcore_summary_find(snapshot);
}

struct rcore_error *rcore_session_explain_signal(const struct rcore_target *target,
						 struct rcore_snapshot *snapshot)
{
	struct rcore_original original;
	rcore_session_fault(target, NULL, snapshot, &original);
	return rcore_cause_find(target->process, original.present ? &original.frame : NULL,
				snapshot);
}
