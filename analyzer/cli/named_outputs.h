/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_NAMED_OUTPUTS_H
#define RCORE_CLI_NAMED_OUTPUTS_H

#include "command/command.h"

/*
 * With --children, a command that writes a file runs once for each process. The
 * user names the files with "%p", which becomes the pid.
 */

/* Fails with USAGE if an output that is given has no "%p" in its name. */
struct rcore_error *rcore_named_outputs_check(const struct rcore_command *command,
					      const void *arguments);

/*
 * Returns a copy of a command's arguments in which outputs have this process's
 * names. The caller frees it with rcore_named_outputs_free(). Error: NO_MEMORY.
 */
struct rcore_error *rcore_named_outputs_copy(const struct rcore_command *command,
					     const void *arguments, int pid, void **ret);
void rcore_named_outputs_free(const struct rcore_command *command, void *copy);

#endif
