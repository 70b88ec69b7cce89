/* SPDX-License-Identifier: MIT */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "image/elf/answers.h"
#include "session/pack/pack_heap.h"
#include "session/redact.h"

static struct rcore_error *open_session(struct rcore_session *session,
					const struct rcore_process *process,
					struct rcore_memory *memory,
					const struct rcore_options *options)
{
	struct rcore_settings *settings = &session->settings;
	settings->values = options->values;
	settings->ids = options->ids;
	settings->no_native = options->no_native;
	settings->merge_similar = options->merge_similar;
	settings->max_pause_ms = options->max_pause_ms;
	settings->exact = options->exact;
	settings->record_heap = options->record_heap;
	bool is_kept = options->choice && !options->choice->answers && !options->layout_file;
	session->choice = is_kept ? options->choice : &session->own_choice;
	if (options->layout_file) {
		settings->layout_file = strdup(options->layout_file);
		if (!settings->layout_file)
			return rcore_error_no_memory();
	}
	if (options->recognizer_file) {
		settings->recognizer_file = strdup(options->recognizer_file);
		if (!settings->recognizer_file)
			return rcore_error_no_memory();
	}
	struct rcore_error *err = rcore_pack_heap_check(options);
	if (!err)
		err = rcore_recognizers_read(&session->recognizers, settings->recognizer_file);
	if (!err)
		err = rcore_target_open(&session->target, process, memory, options);
	if (!err && options->record_heap)
		err = rcore_pack_heap_check_target(&session->target);
	if (err)
		return err;
	settings->redact = rcore_session_redact_mode(&session->target, options->redact);
	session->redactor = rcore_redactor_new(settings->redact);
	return session->redactor ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_session_open(const struct rcore_process *process,
				       struct rcore_memory *memory,
				       const struct rcore_options *options,
				       struct rcore_session **ret)
{
	static const struct rcore_options defaults;
	struct rcore_session *session = calloc(1, sizeof(*session));
	if (!session)
		return rcore_error_no_memory();
	struct rcore_error *err =
		open_session(session, process, memory, options ? options : &defaults);
	if (err)
		rcore_close(session);
	else
		*ret = session;
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
		(*ret)->target.own_process = own;
	return err;
}

void rcore_close(struct rcore_session *session)
{
	if (!session)
		return;
	rcore_target_close(&session->target);
	rcore_redactor_free(session->redactor);
	rcore_inputs_deinit(&session->inputs);
	rcore_located_deinit(&session->located);
	rcore_recognizers_deinit(&session->recognizers);
	free(session->settings.layout_file);
	free(session->settings.recognizer_file);
	free(session->own_choice.trial);
	free(session);
}

struct rcore_choice *rcore_choice_open(void)
{
	return calloc(1, sizeof(struct rcore_choice));
}

struct rcore_choice *rcore_choice_open_several(void)
{
	struct rcore_choice *choice = rcore_choice_open();
	if (choice)
		choice->answers = rcore_answers_new();
	if (choice && choice->answers)
		return choice;
	rcore_choice_close(choice);
	return NULL;
}

void rcore_choice_close(struct rcore_choice *choice)
{
	if (!choice)
		return;
	free(choice->trial);
	rcore_answers_free(choice->answers);
	free(choice);
}

void rcore_snapshot_free(struct rcore_snapshot *snapshot)
{
	if (!snapshot)
		return;
	rcore_arena_deinit(&snapshot->arena);
	free(snapshot);
}
