/* SPDX-License-Identifier: MIT */
#include "session/inputs.h"

#include <unistd.h>

#include "session/session.h"
#include "target/output/destination.h"

struct rcore_error *rcore_session_inputs(struct rcore_session *session,
					 const struct rcore_inputs **ret)
{
	struct rcore_inputs *inputs = &session->inputs;
	*ret = inputs;
	if (inputs->count)
		return NULL;
	struct rcore_error *err =
		rcore_inputs_add(inputs, session->target.process->source, "the core itself");
	if (!err)
		err = rcore_inputs_add_fd(inputs, STDIN_FILENO,
					  "the file that standard input reads");
	if (!err)
		err = rcore_inputs_add(inputs, session->settings.layout_file,
				       "the layout table");
	if (!err)
		err = rcore_inputs_add(inputs, session->settings.recognizer_file,
				       "the file of recognizers");
	size_t count = rcore_modules_count(session->target.modules);
	for (size_t i = 0; i < count && !err; i++)
		err = rcore_inputs_add(inputs,
				       rcore_modules_get(session->target.modules, i)->file,
				       "a file of the target");
	return err;
}

struct rcore_error *rcore_session_check_output(struct rcore_session *session, const char *path)
{
	struct rcore_destination place;
	const struct rcore_inputs *inputs;
	struct rcore_error *err = rcore_session_inputs(session, &inputs);
	return err ? err : rcore_destination_find(path, inputs, &place);
}

struct rcore_error *rcore_session_check_stdout(struct rcore_session *session)
{
	struct stat file;
	const struct rcore_inputs *inputs;
	struct rcore_error *err = rcore_session_inputs(session, &inputs);
	if (err || fstat(STDOUT_FILENO, &file))
		return err;
	const char *what = rcore_inputs_find(inputs, &file);
	return what ? rcore_error_create(RCORE_ERROR_USAGE,
					 "standard output is %s, which must not be changed; "
					 "redirect it to another file",
					 what)
		    : NULL;
}
