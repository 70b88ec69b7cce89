/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_LIST_H
#define RCORE_CLI_LIST_H

#include "command/command.h"

/*
 * The commands that only the shell has, in the order in which help lists them;
 * ends with NULL.
 */
extern const struct rcore_command *const rcore_cli_commands[];

extern const struct rcore_command rcore_cli_collect;
extern const struct rcore_command rcore_cli_gdb;
extern const struct rcore_command rcore_cli_layout;
extern const struct rcore_command rcore_cli_layout_diff;
extern const struct rcore_command rcore_cli_layout_list;
extern const struct rcore_command rcore_cli_lldb;
extern const struct rcore_command rcore_cli_ps;
extern const struct rcore_command rcore_cli_record;
extern const struct rcore_command rcore_cli_report;
extern const struct rcore_command rcore_cli_top;
extern const struct rcore_command rcore_cli_triage;

#endif
