/* SPDX-License-Identifier: MIT */
#include "command/list.h"

#define ROW(name) &rcore_command_##name,
const struct rcore_command *const rcore_commands[] = {RCORE_COMMANDS(ROW) NULL};
