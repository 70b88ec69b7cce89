/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_COMMAND_H
#define RCORE_CLI_COMMAND_H

/*
 * cli/ is the rcore command: it parses the command line, opens the target and
 * runs the commands of command/, and those that only a shell needs (triage,
 * collect, record, layout, gdb, lldb). It may include every other folder; no
 * folder includes it. Start with main.c, then list.c.
 */

#include "command/command.h"

/*
 * Runs a command of the shell; argv[0] is skipped. If argv names a subcommand,
 * runs that one. Prints help or errors itself and returns the exit status.
 */
int rcore_cli_command(const struct rcore_command *command, int argc, char **argv);

/* Returns the style of help for this terminal. */
struct rcore_help_style rcore_cli_help_style(void);

#endif
