/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_OPTIONS_H
#define RCORE_CLI_OPTIONS_H

#include "command/command.h"

/* What the option --help sets. */
struct rcore_cli_help {
	bool help;
};

/* The choices of --color, rcore_cli_target.color_when. */
enum { RCORE_COLOR_AUTO, RCORE_COLOR_ALWAYS, RCORE_COLOR_NEVER };

/*
 * Lists the groups of options that a command has in the shell, the command's
 * own group first. Returns their number. The arguments may be NULL if nothing
 * is parsed.
 */
enum { RCORE_CLI_TARGET_GROUPS = 7, RCORE_CLI_GROUPS = RCORE_CLI_TARGET_GROUPS + 4 };
size_t rcore_cli_groups(const struct rcore_command *command, void *arguments,
			struct rcore_cli_target *target, struct rcore_cli_help *help,
			struct rcore_option_group ret[RCORE_CLI_GROUPS]);

#endif
