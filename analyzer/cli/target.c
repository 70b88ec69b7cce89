/* SPDX-License-Identifier: MIT */
#include "cli/target.h"

#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/options.h"
#include "cli/screen.h"
#include "command/command.h"
#include "session/live/containers.h"
#include "target/core/journal.h"

static bool color_by_default(void)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
	if (no_color && no_color[0])
		return false;
	return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

void rcore_cli_target_settle(struct rcore_cli_target *target)
{
	target->color = target->color_when == RCORE_COLOR_AUTO
				? color_by_default()
				: target->color_when == RCORE_COLOR_ALWAYS;
	target->options.size = sizeof(target->options);
	target->options.redact = (enum rcore_redact)target->redact;
	target->options.search_paths = target->search_paths.items;
	target->options.search_path_count = target->search_paths.count;
}

static struct rcore_error *check_pid(const struct rcore_cli_target *target)
{
	if (target->children && target->watch)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "option '--watch' cannot be used with --children: it "
					  "watches one process");
	if (target->options.exact && target->options.no_stop)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "option '--exact' cannot be used with --no-stop: the "
					  "process is not stopped");
	if (target->pid || (!target->children && !target->options.no_stop && !target->watch &&
			    !target->options.max_pause_ms && !target->options.exact))
		return NULL;
	return rcore_error_create(RCORE_ERROR_USAGE, "option '%s' requires -p PID",
				  target->children               ? "--children"
				  : target->watch                ? "--watch"
				  : target->options.max_pause_ms ? "--max-pause"
				  : target->options.exact        ? "--exact"
								 : "--no-stop");
}

static struct rcore_error *enter_container(struct rcore_cli_target *target)
{
	if (!target->container)
		return NULL;
	if (target->pid)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"option '--container' cannot be used with -p: both name "
			"the target");
	return rcore_container_find(target->container, &target->pid);
}

struct rcore_error *rcore_cli_target_take(struct rcore_cli_target *target,
					  const struct rcore_strings *words,
					  const struct rcore_command *command, size_t *ret_used)
{
	const bool takes_more = command->words;
	size_t used = 0;
	char escaped[128];
	struct rcore_error *err = enter_container(target);
	if (!err)
		err = check_pid(target);
	if (err)
		return err;
	if (!target->pid && !words->count)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"missing CORE; name a core file, or a running process with -p PID");
	if (!target->pid)
		target->core = words->items[used++];
	if (!target->pid && words->count > used &&
	    (!takes_more ||
	     (!command->words_are_targets && access(words->items[used], F_OK) == 0)))
		target->options.executable = words->items[used++];
	*ret_used = used;
	if (takes_more || used == words->count)
		return NULL;
	return rcore_error_create(RCORE_ERROR_USAGE, "unexpected argument '%s'%s",
				  rcore_escape(escaped, sizeof(escaped), words->items[used]),
				  target->pid ? ": -p PID names the target"
					      : ": name one core");
}

static struct rcore_error *open_coredump(const struct rcore_cli_target *target, const char *id,
					 struct rcore_session **ret)
{
	const char *folder = target->coredump_folder;
	char *path;
	struct rcore_error *err =
		rcore_journal_find(folder ? folder : RCORE_JOURNAL_FOLDER, id, &path);
	if (err)
		return err;
	err = rcore_open_core(path, &target->options, ret);
	free(path);
	return err;
}

struct rcore_error *rcore_cli_target_open(const struct rcore_cli_target *target,
					  struct rcore_session **ret)
{
	static const char coredump[] = "coredump:";
	if (target->pid)
		return rcore_open_pid(target->pid, &target->options, ret);
	if (!strncmp(target->core, coredump, strlen(coredump)))
		return open_coredump(target, target->core + strlen(coredump), ret);
	return rcore_open_core(target->core, &target->options, ret);
}

int rcore_cli_fail(struct rcore_error *err)
{
	rcore_screen_end_if_unread();
	int status = err->code == RCORE_ERROR_NOT_RUBY ? 3
		     : err->code == RCORE_ERROR_USAGE  ? EX_USAGE
						       : 2;
	/*
	 * Escapes a path, which may contain any character, because a message is
	 * one line.
	 */
	fputs("rcore: ", stderr);
	rcore_escape_write(stderr, err->message);
	putc('\n', stderr);
	rcore_error_free(err);
	__fpurge(stdout); /* its error has been printed */
	return status;
}
