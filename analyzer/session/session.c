/* SPDX-License-Identifier: MIT */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "model/group.h"
#include "triage/cause.h"
#include "triage/deadlock.h"
#include "triage/triage.h"
#include "vm/load.h"
#include "vm/problem.h"

/* A pack whose note is damaged is a core of which much was not saved. */
static struct rcore_error *open_pack(struct rcore_session *session,
				     const struct rcore_process *process)
{
	session->pack = rcore_arena_alloc(&session->pack_arena, sizeof(*session->pack));
	if (!session->pack)
		return rcore_error_no_memory();
	struct rcore_error *err =
		rcore_pack_note_read(process->pack_note, process->pack_note_size,
				     &session->pack_arena, session->pack);
	if (!err) {
		session->pack_process = *process;
		session->pack_process.segments = session->pack->segments;
		session->pack_process.segment_count = session->pack->segment_count;
		session->process = &session->pack_process;
		if (session->pack->redact > session->redact)
			session->redact = session->pack->redact < RCORE_REDACT_ALL
						  ? (enum rcore_redact)session->pack->redact
						  : RCORE_REDACT_ALL;
	}
	if (!err || err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	session->pack = NULL;
	session->pack_problem = strdup(err->message);
	rcore_error_free(err);
	return session->pack_problem ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_session_open(const struct rcore_process *process,
				       struct rcore_memory *memory,
				       const struct rcore_options *options,
				       struct rcore_session **ret)
{
	static const struct rcore_options defaults;
	if (!options)
		options = &defaults;
	struct rcore_session *session = calloc(1, sizeof(*session));
	if (!session)
		return rcore_error_no_memory();
	session->process = process;
	session->no_native = options->no_native;
	session->ids = options->ids;
	session->choice = options->choice && !options->layout_file ? options->choice
								   : &session->own_choice;
	session->values = options->values;
	session->redact = options->redact;
	if (options->layout_file) {
		session->layout_file = strdup(options->layout_file);
		if (!session->layout_file) {
			free(session);
			return rcore_error_no_memory();
		}
	}
	struct rcore_module_options module_options = {
		.sysroot = options->sysroot,
		.search_paths = options->search_paths,
		.search_path_count = options->search_path_count,
		.executable = options->executable,
	};
	struct rcore_error *err = NULL;
	if (options->record) {
		session->recorder = rcore_recorder_new(memory);
		if (session->recorder)
			memory = rcore_recorder_memory(session->recorder);
		else
			err = rcore_error_no_memory();
		module_options.from_memory = true;
	}
	if (!err && process->pack_note)
		err = open_pack(session, process);
	if (!err)
		err = rcore_modules_open(session->process, memory, &module_options,
					 &session->modules);
	if (err) {
		rcore_close(session);
		return err;
	}
	session->memory = rcore_modules_overlay(session->modules, memory);
	*ret = session;
	return NULL;
}

struct rcore_error *rcore_open_core(const char *path, const struct rcore_options *given,
				    struct rcore_session **ret)
{
	struct rcore_options options = {0};
	struct rcore_core *core;
	struct rcore_error *err = rcore_sized_copy(&options, given);
	if (!err)
		err = rcore_core_open(path, &core);
	if (err)
		return err;
	err = rcore_session_open(rcore_core_process(core), rcore_core_memory(core), &options,
				 ret);
	if (err)
		rcore_core_close(core);
	else
		(*ret)->core = core;
	return err;
}

struct rcore_error *rcore_open_memory(const struct rcore_process *process,
				      struct rcore_memory *memory,
				      const struct rcore_options *given,
				      struct rcore_session **ret)
{
	struct rcore_options options = {0};
	struct rcore_process *own = calloc(1, sizeof(*own));
	struct rcore_error *err =
		own ? rcore_sized_copy(&options, given) : rcore_error_no_memory();
	if (!err)
		err = rcore_sized_copy(own, process);
	if (!err)
		err = rcore_session_open(own, memory, &options, ret);
	if (err)
		free(own);
	else
		(*ret)->own_process = own;
	return err;
}

void rcore_close(struct rcore_session *session)
{
	if (!session)
		return;
	rcore_code_close(session->code);
	rcore_modules_close(session->modules);
	rcore_core_close(session->core);
	rcore_live_close(session->live);
	rcore_recorder_free(session->recorder);
	rcore_redactor_free(session->redactor);
	rcore_arena_deinit(&session->pack_arena);
	free(session->layout_text);
	free(session->pack_problem);
	free(session->layout_file);
	rcore_inputs_deinit(&session->inputs);
	free((void *)session->statics.writable);
	free(session->location);
	free(session->own_choice.trial);
	free(session->own_process);
	free(session);
}

struct rcore_choice *rcore_choice_open(void)
{
	return calloc(1, sizeof(struct rcore_choice));
}

void rcore_choice_close(struct rcore_choice *choice)
{
	if (!choice)
		return;
	free(choice->trial);
	free(choice);
}

void rcore_snapshot_free(struct rcore_snapshot *snapshot)
{
	if (!snapshot)
		return;
	rcore_arena_deinit(&snapshot->arena);
	free(snapshot);
}

static const char *copy(struct rcore_snapshot *snapshot, const char *text)
{
	return text ? rcore_arena_strdup(&snapshot->arena, text) : NULL;
}

static struct rcore_error *new_snapshot(struct rcore_session *session,
					struct rcore_snapshot **ret)
{
	const struct rcore_process *process = session->process;
	struct rcore_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		return rcore_error_no_memory();
	snapshot->ids = session->ids;
	snapshot->source = copy(snapshot, process->source);
	snapshot->producer = copy(snapshot, process->producer);
	snapshot->arguments =
		copy(snapshot, process->arguments ? process->arguments : process->executable);
	snapshot->pid = process->pid;
	snapshot->machine = process->machine;
	snapshot->cause.thread = snapshot->cause.fiber = -1;
	if (process->note)
		rcore_problem_add(snapshot,
				  rcore_error_create(RCORE_ERROR_FORMAT, "%s", process->note));
	if (session->pack_problem)
		rcore_problem_add(snapshot, rcore_error_create(RCORE_ERROR_FORMAT, "%s",
							       session->pack_problem));
	*ret = snapshot;
	return NULL;
}

/* Up to where the VM and its layout are known. */
static struct rcore_error *examine(struct rcore_session *session,
				   struct rcore_snapshot *snapshot, struct rcore_location *ret)
{
	struct rcore_identity identity = {0};
	struct rcore_error *err = rcore_session_identify(session, snapshot, &identity);
	struct rcore_error *modules_err =
		rcore_session_modules(session, identity.module, snapshot);
	if (err) {
		rcore_error_free(modules_err);
		return err;
	}
	if (modules_err)
		return modules_err;
	err = rcore_session_locate(session, &identity, snapshot, ret);
	if (!err)
		err = rcore_session_statics(session, identity.module);
	if (!err && session->checks_fields)
		err = rcore_session_check(session, ret, snapshot);
	session->ruby = identity.module;
	if (err)
		return err;
	session->traits = ret->layout.traits;
	if (!session->location)
		session->location = malloc(sizeof(*session->location));
	if (!session->location)
		return rcore_error_no_memory();
	*session->location = *ret;
	return NULL;
}

static struct rcore_error *decode(struct rcore_session *session,
				  struct rcore_location *location, bool hides_text,
				  struct rcore_snapshot *snapshot)
{
	struct rcore_ruby ruby;
	rcore_ruby_init(&ruby, session->memory, &location->layout, &snapshot->arena);
	rcore_ruby_set_vm(&ruby, location->vm);
	ruby.global_symbols = location->global_symbols;
	ruby.statics = session->statics;
	ruby.recorder = session->recorder;
	ruby.hides_text = hides_text;
	if (session->pack) {
		ruby.packed_fibers = session->pack->fibers;
		ruby.packed_fiber_count = session->pack->fiber_count;
	}
	struct rcore_error *err =
		rcore_vm_load(&ruby, location->vm, session->process, snapshot);
	if (!err)
		err = rcore_session_thread_locals(session, &ruby, snapshot);
	if (!err)
		err = rcore_session_details(session, &ruby, location->vm, snapshot);
	if (!err) {
		rcore_session_fault(session, &ruby, snapshot);
		rcore_instructions_sample(&ruby, snapshot, &session->instructions);
	}
	session->statics = ruby.statics;
	snapshot->redaction.counts[RCORE_REDACTED_STRING] = ruby.hidden_count;
	rcore_ruby_deinit(&ruby);
	if (!err && session->recorder) {
		free(session->layout_text);
		session->layout_text = rcore_layout_print(&location->layout, NULL);
		if (!session->layout_text)
			err = rcore_error_no_memory();
	}
	return err;
}

static struct rcore_error *read_all(struct rcore_session *session, bool hides_text,
				    struct rcore_snapshot **ret)
{
	struct rcore_snapshot *snapshot;
	struct rcore_location *location = calloc(1, sizeof(*location));
	struct rcore_error *err =
		location ? new_snapshot(session, &snapshot) : rcore_error_no_memory();
	if (err) {
		free(location);
		return err;
	}
	err = examine(session, snapshot, location);
	if (!err)
		err = decode(session, location, hides_text, snapshot);
	free(location);
	if (err)
		rcore_snapshot_free(snapshot);
	else
		*ret = snapshot;
	return err;
}

/*
 * What stands under a key in some frame is a secret wherever else it stands, whether that frame's values are asked
 * for or not: all are read once more for it. A pack has nothing of that.
 */
static struct rcore_error *learn(struct rcore_session *session)
{
	static const struct rcore_locals_options everything = {
		.self = true,
		.arguments = true,
		.locals = true,
		.inspect = {.max_string = 4096, .max_text = 64 << 10}};
	const struct rcore_locals_options asked = session->values;
	struct rcore_snapshot *snapshot;
	session->values = everything;
	if (session->recorder)
		rcore_recorder_pause(session->recorder, true);
	struct rcore_error *err = read_all(session, false, &snapshot);
	if (session->recorder)
		rcore_recorder_pause(session->recorder, false);
	session->values = asked;
	if (err)
		return err;
	err = rcore_session_learn(session, snapshot);
	rcore_snapshot_free(snapshot);
	return err;
}

struct rcore_error *rcore_session_read(struct rcore_session *session,
				       struct rcore_snapshot **ret)
{
	struct rcore_snapshot *snapshot;
	struct rcore_error *err =
		read_all(session, session->redact >= RCORE_REDACT_STRINGS, &snapshot);
	if (err || session->redact == RCORE_REDACT_NONE) {
		if (!err)
			*ret = snapshot;
		return err;
	}
	err = learn(session);
	if (err)
		rcore_snapshot_free(snapshot);
	else
		*ret = snapshot;
	return err;
}

/* A running process has been let go by now: it is read no more but for what was kept of it. */
static struct rcore_error *conclude(struct rcore_session *session,
				    struct rcore_snapshot *snapshot)
{
	struct rcore_error *err = rcore_snapshot_group(snapshot);
	if (!err && !session->no_native && !session->no_stop)
		err = rcore_session_native(session, snapshot);
	if (!err)
		rcore_session_last_words(session, snapshot);
	if (!err)
		err = rcore_triage(session->process,
				   session->has_original ? &session->original : NULL, snapshot);
	if (!err)
		err = rcore_deadlocks_find(snapshot);
	if (!err)
		err = rcore_session_redact(session, snapshot);
	return err;
}

struct rcore_error *rcore_load(struct rcore_session *session, struct rcore_snapshot **ret)
{
	struct rcore_snapshot *snapshot;
	struct rcore_error *err = rcore_session_files(session);
	if (!err)
		err = session->live ? rcore_session_read_live(session, &snapshot)
				    : rcore_session_read(session, &snapshot);
	if (err)
		return err;
	err = conclude(session, snapshot);
	if (err)
		rcore_snapshot_free(snapshot);
	else
		*ret = snapshot;
	return err;
}

static struct rcore_error *examine_once(struct rcore_session *session,
					struct rcore_snapshot **ret, struct rcore_error **error)
{
	struct rcore_snapshot *snapshot = NULL;
	struct rcore_error *failure = NULL;
	struct rcore_location *location = calloc(1, sizeof(*location));
	struct rcore_error *err =
		location ? new_snapshot(session, &snapshot) : rcore_error_no_memory();
	if (!err) {
		failure = examine(session, snapshot, location);
		rcore_session_fault(session, NULL, snapshot);
		err = rcore_cause_find(session->process,
				       session->has_original ? &session->original : NULL,
				       snapshot);
	}
	if (!err)
		err = rcore_session_redact(session, snapshot);
	free(location);
	if (err) {
		rcore_error_free(failure);
		rcore_snapshot_free(snapshot);
		return err;
	}
	*ret = snapshot;
	*error = failure;
	return NULL;
}

/* A running process may change in the midst of a proof; it rarely does so twice. */
struct rcore_error *rcore_session_examine_running(struct rcore_session *session,
						  struct rcore_snapshot **ret,
						  struct rcore_error **error)
{
	enum { LIVE_ATTEMPTS = 5 };
	for (int left = session->live ? LIVE_ATTEMPTS : 1;; left--) {
		struct rcore_snapshot *snapshot;
		struct rcore_error *failure;
		if (session->live)
			rcore_live_forget(session->live);
		struct rcore_error *err = examine_once(session, &snapshot, &failure);
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

/* The proofs that count are those of one moment. The look before it tells which pages to copy. */
static struct rcore_error *examine_stopped(struct rcore_session *session,
					   struct rcore_snapshot **ret,
					   struct rcore_error **error)
{
	struct rcore_live_pause pause;
	struct rcore_snapshot *before;
	struct rcore_error *failure;
	struct rcore_error *err = rcore_session_examine_running(session, &before, &failure);
	if (err)
		return err;
	err = rcore_live_begin(session->live, true);
	if (err) { /* it cannot be stopped: what was seen while it ran is all there is */
		rcore_problem_add(before, err);
		*ret = before;
		*error = failure;
		return NULL;
	}
	rcore_snapshot_free(before);
	rcore_error_free(failure);
	err = examine_once(session, ret, error);
	rcore_live_end(session->live, &pause);
	return err;
}

struct rcore_error *rcore_session_examine(struct rcore_session *session,
					  struct rcore_snapshot **ret,
					  struct rcore_error **error)
{
	struct rcore_error *err = rcore_session_files(session);
	if (err)
		return err;
	return session->live && !session->no_stop
		       ? examine_stopped(session, ret, error)
		       : rcore_session_examine_running(session, ret, error);
}

struct rcore_error *rcore_examine(struct rcore_session *session, struct rcore_snapshot **ret,
				  struct rcore_error **error)
{
	struct rcore_error *err = rcore_session_examine(session, ret, error);
	if (err || *error || session->no_native)
		return err;
	err = rcore_session_activation(session, *ret);
	if (err)
		rcore_snapshot_free(*ret);
	return err;
}
