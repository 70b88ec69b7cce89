/* SPDX-License-Identifier: MIT */
#include "session/load.h"

#include <stdlib.h>

#include "model/group.h"
#include "session/live/deployment.h"
#include "session/live/running.h"
#include "session/pack/pack_heap.h"
#include "session/pack/pack_values.h"
#include "session/explain.h"
#include "session/layout/locate.h"
#include "session/redact.h"
#include "session/weave.h"
#include "vm/problem.h"

/*
 * How a target becomes a snapshot. Each step has a header of its name:
 *
 *   open      the core, process or pack, and the files it had mapped
 *   identify  which of these files is Ruby, and its version
 *   locate    the layout for which all proofs hold, and the VM's address
 *   decode    Ractors, threads, fibers and their Ruby frames
 *   weave     native stacks, unwound and woven with the Ruby frames
 *   explain   why the process died, and the frame to look at first
 *   redact    what must not leave the machine is removed
 *
 * open_core.c opens a core; running.c opens a process, and decides when to stop
 * it. rcore_report() then prints the snapshot.
 */

struct rcore_error *rcore_session_describe(const struct rcore_session *session,
					   struct rcore_snapshot **ret)
{
	const struct rcore_target *target = &session->target;
	const struct rcore_process *process = target->process;
	struct rcore_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		return rcore_error_no_memory();
	snapshot->ids = session->settings.ids;
	snapshot->source = rcore_arena_copy(&snapshot->arena, process->source);
	snapshot->producer = rcore_arena_copy(&snapshot->arena, process->producer);
	snapshot->arguments =
		rcore_arena_copy(&snapshot->arena,
				 process->arguments ? process->arguments : process->executable);
	snapshot->pid = process->pid;
	snapshot->is_debugged = process->is_debugged;
	snapshot->machine = process->machine;
	snapshot->cause.thread = snapshot->cause.fiber = -1;
	rcore_deployment_describe(target, snapshot);
	if (process->note)
		rcore_problem_add(snapshot,
				  rcore_error_create(RCORE_ERROR_FORMAT, "%s", process->note));
	if (target->pack_problem)
		rcore_problem_add(snapshot, rcore_error_create(RCORE_ERROR_FORMAT, "%s",
							       target->pack_problem));
	*ret = snapshot;
	return NULL;
}

static struct rcore_error *locate(struct rcore_session *session,
				  struct rcore_snapshot *snapshot)
{
	const struct rcore_search search = {
		.target = &session->target,
		.identity = &session->located.identity,
		.layout_file = session->settings.layout_file,
		.choice = session->choice,
		.is_proved = session->is_proved,
		.arena = &snapshot->arena,
	};
	struct rcore_trial *trial = calloc(1, sizeof(*trial));
	if (!trial)
		return rcore_error_no_memory();
	struct rcore_error *err = rcore_session_locate(&search, trial);
	if (!err) {
		rcore_trial_describe(trial, snapshot);
		err = rcore_located_set(&session->located, &session->target, &trial->location);
		rcore_core_fetch(session->target.core);
	}
	free(trial);
	return err;
}

struct rcore_error *rcore_session_look(struct rcore_session *session,
				       struct rcore_snapshot *snapshot)
{
	struct rcore_identity *identity = &session->located.identity;
	rcore_auto_error not_ruby = rcore_session_identify(&session->target, identity);
	struct rcore_error *err = rcore_session_describe_identity(identity, snapshot);
	if (!err)
		err = rcore_session_describe_modules(&session->target, identity->module,
						     snapshot);
	if (!err && not_ruby) {
		err = not_ruby;
		not_ruby = NULL;
	}
	return err ? err : locate(session, snapshot);
}

static struct rcore_error *read_moment(struct rcore_session *session, bool is_located,
				       const struct rcore_decode_options *options,
				       struct rcore_moment *ret)
{
	struct rcore_error *err = rcore_session_describe(session, &ret->snapshot);
	if (err)
		return err;
	if (!is_located)
		err = rcore_session_look(session, ret->snapshot);
	if (!err)
		err = rcore_session_decode(&session->target, &session->located, options, ret);
	if (err)
		rcore_snapshot_free(ret->snapshot);
	return err;
}

/*
 * Finds secrets in the values of all frames, even if the user did not ask for
 * values: a value under a key such as password is a secret wherever else it
 * occurs. A pack records nothing that only this step reads.
 */
static struct rcore_error *learn(struct rcore_session *session, bool is_located)
{
	const struct rcore_decode_options everything = {
		.values = {.self = true,
			   .arguments = true,
			   .locals = true,
			   .inspect = {.max_string = 4096, .max_text = 64 << 10}},
		.recognizers = &session->recognizers,
	};
	struct rcore_recorder *recorder = session->target.recorder;
	struct rcore_moment moment;
	if (recorder)
		rcore_recorder_pause(recorder, true);
	struct rcore_error *err = read_moment(session, is_located, &everything, &moment);
	if (recorder)
		rcore_recorder_pause(recorder, false);
	if (err)
		return err;
	err = rcore_session_learn(session->settings.redact, moment.snapshot,
				  &session->redactor);
	session->has_learned = true;
	rcore_snapshot_free(moment.snapshot);
	return err;
}

static struct rcore_error *read_and_learn(struct rcore_session *session, bool is_located,
					  struct rcore_moment *ret)
{
	enum rcore_redact redact = session->settings.redact;
	struct rcore_decode_options options = {
		.values = session->settings.values,
		.hides_text = redact >= RCORE_REDACT_STRINGS,
		.recognizers = &session->recognizers,
	};
	const struct rcore_pack_facts *pack = session->target.pack;
	rcore_auto_error missing = pack ? rcore_pack_values_limit(pack, &options.values) : NULL;
	struct rcore_error *err = read_moment(session, is_located, &options, ret);
	if (!err && missing) {
		rcore_problem_add(ret->snapshot, missing);
		missing = NULL;
	}
	if (err || redact == RCORE_REDACT_NONE)
		return err;
	err = learn(session, is_located);
	if (err)
		rcore_snapshot_free(ret->snapshot);
	return err;
}

struct rcore_error *rcore_session_read(struct rcore_session *session, struct rcore_moment *ret)
{
	return read_and_learn(session, false, ret);
}

struct rcore_error *rcore_session_read_again(struct rcore_session *session,
					     struct rcore_moment *ret)
{
	return read_and_learn(session, true, ret);
}

static void tell_missing_names(const struct rcore_target *target,
			       struct rcore_snapshot *snapshot)
{
	const char *problem = rcore_modules_problem(target->modules);
	if (problem)
		rcore_problem_add(snapshot,
				  rcore_error_create(RCORE_ERROR_CORRUPT, "%s", problem));
	if (rcore_modules_lack_memory(target->modules))
		rcore_problem_add(snapshot,
				  rcore_error_create(RCORE_ERROR_NO_MEMORY,
						     "symbols and lines may be missing: the "
						     "process that reads them has too little "
						     "memory"));
}

/* Completes the answer after a running process has been resumed. */
static struct rcore_error *conclude(struct rcore_session *session,
				    const struct rcore_moment *moment)
{
	struct rcore_target *target = &session->target;
	const struct rcore_settings *settings = &session->settings;
	struct rcore_snapshot *snapshot = moment->snapshot;
	struct rcore_error *err = rcore_running_debugged_fds(target, snapshot);
	if (!err)
		err = rcore_snapshot_group(snapshot, settings->merge_similar);
	if (!err && !settings->no_native && !settings->no_stop)
		err = rcore_session_weave(target, &session->located, moment, NULL);
	if (!err)
		tell_missing_names(target, snapshot);
	if (!err)
		err = rcore_session_explain(target, &session->located,
					    settings->redact >= RCORE_REDACT_STRINGS,
					    settings->merge_similar, snapshot);
	if (!err)
		err = rcore_session_redact(target, settings->redact, session->redactor,
					   snapshot);
	return err;
}

struct rcore_error *rcore_load(struct rcore_session *session, struct rcore_snapshot **ret)
{
	struct rcore_moment moment;
	rcore_target_retry(&session->target);
	struct rcore_error *err = rcore_target_check_files(&session->target);
	if (!err && session->settings.record_heap && session->target.core)
		err = rcore_session_record_heap(session);
	if (!err)
		err = session->read ? session->read(session, &moment)
				    : rcore_session_read(session, &moment);
	if (err)
		return rcore_target_judge(&session->target, err);
	/*
	 * From here on, only machine stacks are read again. If the core is in
	 * memory anyway, this would only cost time.
	 */
	if (rcore_core_is_read_ahead(session->target.core))
		rcore_core_release_pages(session->target.core);
	err = rcore_target_judge(&session->target, conclude(session, &moment));
	if (err)
		rcore_snapshot_free(moment.snapshot);
	else
		*ret = moment.snapshot;
	return err;
}

struct rcore_error *rcore_session_learn_secrets(struct rcore_session *session)
{
	struct rcore_snapshot *snapshot;
	if (!session->settings.redact || session->has_learned)
		return NULL;
	struct rcore_error *err = rcore_load(session, &snapshot);
	if (!err)
		rcore_snapshot_free(snapshot);
	return err;
}
