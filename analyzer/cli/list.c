/* SPDX-License-Identifier: MIT */
#include "cli/list.h"

#define ROW(name) &rcore_cli_##name,
const struct rcore_command *const rcore_cli_commands[] = {RCORE_CLI_COMMANDS(ROW) NULL};
