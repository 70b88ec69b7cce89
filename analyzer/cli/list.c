/* SPDX-License-Identifier: MIT */
#include "cli/list.h"

#include <string.h>

#include "base/count.h"
#include "command/nearest.h"

#define ROW(name) &rcore_cli_##name,
const struct rcore_command *const rcore_cli_commands[] = {RCORE_CLI_COMMANDS(ROW) NULL};

const struct rcore_command *const *const rcore_cli_lists[] = {rcore_commands,
							      rcore_cli_commands};
const size_t rcore_cli_list_count = RCORE_COUNT(rcore_cli_lists);

const struct rcore_command *rcore_cli_find(const char *name)
{
	for (size_t i = 0; i < rcore_cli_list_count; i++)
		for (const struct rcore_command *const *command = rcore_cli_lists[i]; *command;
		     command++)
			if ((*command)->name && strcmp((*command)->name, name) == 0)
				return *command;
	return NULL;
}

const char *rcore_cli_nearest(const char *word)
{
	struct rcore_nearest nearest = {word, strlen(word), NULL, 0};
	for (size_t i = 0; i < rcore_cli_list_count; i++)
		for (const struct rcore_command *const *command = rcore_cli_lists[i]; *command;
		     command++)
			if ((*command)->name)
				rcore_nearest_compare(&nearest, (*command)->name);
	rcore_nearest_compare(&nearest, "help");
	return nearest.name;
}

const char rcore_cli_usage[] = "rcore COMMAND ...\n"
			       "rcore CORE [EXE]\n"
			       "rcore -p PID\n";

const char rcore_cli_description[] =
	"Prints what a Ruby process is doing, or was doing when it died: every thread, every "
	"fiber, with Ruby and native frames in one stack. Works on stripped Rubies.\n"
	"\n"
	"TARGET is CORE [EXE] (a core file and its program) or -p PID (a running process). "
	"'rcore CORE' means 'rcore analyze CORE'.";

const char rcore_cli_examples[] = "rcore analyze core.1234\n"
				  "rcore waits -p 1234\n"
				  "rcore gdb -p 1234\n";
