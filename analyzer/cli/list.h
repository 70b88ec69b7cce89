/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_LIST_H
#define RCORE_CLI_LIST_H

#include "command/command.h"

/*
 * The commands that only the shell has, in the order in which help lists them.
 * To add one, add its file, which defines rcore_cli_NAME, and its line here.
 */
#define RCORE_CLI_COMMANDS(COMMAND) \
	COMMAND(ps)                 \
	COMMAND(triage)             \
	COMMAND(collect)            \
	COMMAND(record)             \
	COMMAND(report)             \
	COMMAND(top)                \
	COMMAND(layout)             \
	COMMAND(gdb)                \
	COMMAND(lldb)

#define RCORE_CLI_COMMAND(name) extern const struct rcore_command rcore_cli_##name;
RCORE_CLI_COMMANDS(RCORE_CLI_COMMAND)

/* Not in the list, because they are subcommands of `rcore layout`. */
RCORE_CLI_COMMAND(layout_diff)
RCORE_CLI_COMMAND(layout_list)

/* The list; ends with NULL. */
extern const struct rcore_command *const rcore_cli_commands[];

/* All lists of commands of the shell. */
extern const struct rcore_command *const *const rcore_cli_lists[];
extern const size_t rcore_cli_list_count;

/* Returns the command of this name, or NULL. */
const struct rcore_command *rcore_cli_find(const char *name);

/* Returns the command that the user may mean by a mistyped word, or NULL. */
const char *rcore_cli_nearest(const char *word);

/*
 * The text of `rcore --help` and its manual page: lines, then paragraphs that
 * must be wrapped, then lines again.
 */
extern const char rcore_cli_usage[], rcore_cli_description[], rcore_cli_examples[];

#endif
