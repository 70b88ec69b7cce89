/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_COMMAND_H
#define RCORE_CLI_COMMAND_H

#include "command/command.h"

/* Runs a command of rcore_commands[] on the TARGET that its arguments name; as those of
 * commands.h. */
int rcore_cli_command(const struct rcore_command *command, int argc, char **argv);

#endif
