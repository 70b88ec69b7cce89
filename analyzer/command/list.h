/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_LIST_H
#define RCORE_COMMAND_LIST_H

#include "command/command.h"

/*
 * The commands that read a target, in the order in which help lists them. To
 * add one, add its file, which defines rcore_command_NAME, and its line here.
 */
#define RCORE_COMMANDS(COMMAND) \
	COMMAND(analyze)        \
	COMMAND(threads)        \
	COMMAND(bt)             \
	COMMAND(locals)         \
	COMMAND(exception)      \
	COMMAND(state)          \
	COMMAND(waits)          \
	COMMAND(doctor)         \
	COMMAND(explain)        \
	COMMAND(convert)        \
	COMMAND(pack)           \
	COMMAND(print)          \
	COMMAND(heap)           \
	COMMAND(bpf_params)     \
	COMMAND(fiber)          \
	COMMAND(frame)          \
	COMMAND(up)             \
	COMMAND(down)

#define RCORE_COMMAND(name) extern const struct rcore_command rcore_command_##name;
RCORE_COMMANDS(RCORE_COMMAND)

/*
 * Not in the list, because they are subcommands of `rcore layout` and `rcore
 * heap`.
 */
RCORE_COMMAND(check)
RCORE_COMMAND(heap_dump)
RCORE_COMMAND(heap_refs)
RCORE_COMMAND(heap_retained)
RCORE_COMMAND(heap_diff)
RCORE_COMMAND(heap_strings)
RCORE_COMMAND(heap_verify)
RCORE_COMMAND(heap_doctor)
RCORE_COMMAND(heap_malloc)

/*
 * Finds a subcommand by its name, such as "list", or by its former name,
 * "--list".
 */
const struct rcore_command *rcore_find_subcommand(const struct rcore_command *command,
						  const char *word);

/*
 * Checks the words of a command that was called without a subcommand. Fails if
 * one of them is the name of a subcommand, or close to one, and not that of a
 * file. Also fails if the first word has only letters and hyphens, and is not
 * the name of a file. Error: USAGE.
 */
struct rcore_error *rcore_check_subcommand(const struct rcore_command *command,
					   const struct rcore_strings *words);

#endif
