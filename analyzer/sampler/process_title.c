/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "sampler/sampler_private.h"
#include "session/live/ruby_processes.h"

/* The rest of a longer title adds little. */
enum { TITLE_SIZE = 256 };

/* Returns the title as it may be stored, malloc'ed; NULL: there is none. */
static char *read_title(struct rcore_sampler *sampler)
{
	struct rcore_arena arena = {0};
	char *title = rcore_process_title(rcore_sampler_pid(sampler)), *kept = NULL;
	const char *text = title;
	struct rcore_error *err = NULL;
	if (title && sampler->redactor)
		err = rcore_redact_text(sampler->redactor, &arena, RCORE_PART_COMMAND, NULL,
					&text);
	if (!err && text && text[0])
		kept = strndup(text, rcore_utf8_cut(text, TITLE_SIZE));
	rcore_error_free(err);
	rcore_arena_deinit(&arena);
	free(title);
	return kept;
}

const char *rcore_sampler_title(const struct rcore_sampler *sampler)
{
	return sampler->title;
}

uint32_t rcore_sampler_process(struct rcore_sampler *sampler)
{
	const struct rcore_profile_process process = {
		.pid = (uint32_t)rcore_sampler_pid(sampler),
		.use = sampler->options.pid_use ? sampler->options.pid_use : 1,
	};
	if (sampler->process)
		return sampler->process;
	if (!sampler->title)
		sampler->title = read_title(sampler);
	sampler->process = rcore_profile_process(sampler->profile, &process);
	rcore_profile_set_title(sampler->profile, sampler->process,
				rcore_profile_string(sampler->profile, sampler->title));
	return sampler->process;
}

void rcore_sampler_update_title(struct rcore_sampler *sampler)
{
	char *title = read_title(sampler);
	if (!title || (sampler->title && !strcmp(title, sampler->title))) {
		free(title);
		return;
	}
	free(sampler->title);
	sampler->title = title;
	sampler->process = 0;
	/* Threads that are known already do not ask for it again. */
	rcore_sampler_process(sampler);
}
