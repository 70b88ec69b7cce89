/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/complete.h"
#include "cli/options.h"
#include "cli/target.h"
#include "session/layout/examine.h"
#include "session/live/ruby_processes.h"

/* The user does not wait longer than this for a completion. */
enum { LONGEST_SECONDS = 5 };

static void on_late(int signo)
{
	_exit(0);
}

void rcore_cli_complete_process(rcore_cli_offer *offer, void *context)
{
	struct rcore_ruby_processes processes = {0};
	struct rcore_error *err = rcore_ruby_processes_read(&processes);
	for (size_t i = 0; !err && i < processes.count; i++) {
		char pid[16];
		snprintf(pid, sizeof(pid), "%d", processes.items[i].pid);
		offer(context, pid, processes.items[i].command);
	}
	rcore_error_free(err);
	rcore_ruby_processes_deinit(&processes);
}

static struct rcore_error *offer_ids(struct rcore_session *session, enum rcore_completion kind,
				     rcore_cli_offer *offer, void *context)
{
	struct rcore_view view = {.session = session};
	const struct rcore_snapshot *snapshot;
	struct rcore_error *failure = NULL;
	struct rcore_error *err = rcore_view_load(&view, &snapshot, &failure);
	if (!err && kind == RCORE_COMPLETE_THREAD)
		for (size_t i = 0; i < snapshot->thread_count; i++)
			offer(context, snapshot->threads[i].id, snapshot->threads[i].name);
	if (!err && kind == RCORE_COMPLETE_FIBER)
		for (size_t i = 0; i < snapshot->fiber_count; i++)
			offer(context, snapshot->fibers[i].id, NULL);
	rcore_error_free(failure);
	rcore_view_deinit(&view);
	return err;
}

static struct rcore_error *offer_constants(struct rcore_session *session, const char *begun,
					   rcore_cli_offer *offer, void *context)
{
	struct rcore_names *names;
	struct rcore_error *err = rcore_constant_names(session, begun, &names);
	if (err)
		return err;
	for (size_t i = 0; i < names->count; i++)
		offer(context, names->items[i], NULL);
	rcore_names_free(names);
	return NULL;
}

static struct rcore_error *offer_values(struct rcore_cli_target *target,
					const struct rcore_command *command,
					const struct rcore_command_line *line,
					enum rcore_completion kind, const char *begun,
					rcore_cli_offer *offer, void *context)
{
	struct rcore_session *session = NULL;
	size_t used;
	struct rcore_error *err = rcore_cli_target_take(target, &line->words, command, &used);
	if (err)
		return err;
	rcore_cli_target_settle(target);
	/* Pressing TAB must not stop a process. */
	target->options.no_stop = target->pid != 0;
	target->options.max_pause_ms = 0;
	err = rcore_cli_target_open(target, &session);
	if (!err && kind == RCORE_COMPLETE_CONSTANT)
		err = offer_constants(session, begun, offer, context);
	else if (!err)
		err = offer_ids(session, kind, offer, context);
	rcore_close(session);
	return err;
}

void rcore_cli_complete_in_target(const struct rcore_command *command, int argc,
				  const char *const *words, enum rcore_completion kind,
				  const char *begun, rcore_cli_offer *offer, void *context)
{
	struct rcore_option_group groups[RCORE_CLI_GROUPS];
	struct rcore_cli_target target = {0};
	struct rcore_cli_help help = {0};
	struct rcore_command_line line = {.groups = groups, .has_rest = true};
	void *arguments = calloc(1, command->size + 1);
	const char **argv = calloc((size_t)argc + 2, sizeof(*argv));
	if (!arguments || !argv || command->input != RCORE_INPUT_TARGET)
		goto out;
	argv[0] = "rcore";
	if (argc)
		memcpy(argv + 1, words, (size_t)argc * sizeof(*argv));
	signal(SIGALRM, on_late);
	alarm(LONGEST_SECONDS);
	line.group_count = rcore_cli_groups(command, arguments, &target, &help, groups);
	struct rcore_error *err = rcore_command_line_parse(&line, argc + 1, argv);
	if (!err)
		err = offer_values(&target, command, &line, kind, begun, offer, context);
	rcore_error_free(err);
	rcore_command_line_deinit(&line);
out:
	free(arguments);
	free(argv);
}
