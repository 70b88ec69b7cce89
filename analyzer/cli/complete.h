/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_COMPLETE_H
#define RCORE_CLI_COMPLETE_H

#include "command/command.h"

/*
 * `rcore complete WORD...`, which the scripts of completion/ run when a user of
 * bash, zsh or fish presses the TAB key. The last word is the one to complete;
 * it may be empty. Prints a line for each word that can stand in its place: the
 * word, a tab, and what it means. The line ":files" asks the shell to complete
 * the names of files, too. Prints nothing if it knows no completion.
 */
int rcore_cli_complete(int argc, char **argv);

/* Prints one line if `word` begins like what the user has typed. */
typedef void rcore_cli_offer(void *context, const char *word, const char *help);

/*
 * Prints the values of `kind` in the target that `words` name, the words of a
 * command line between the command and the word to complete. Reads a core, or a
 * process without stopping it. Gives up after some seconds.
 */
void rcore_cli_complete_in_target(const struct rcore_command *command, int argc,
				  const char *const *words, enum rcore_completion kind,
				  const char *begun, rcore_cli_offer *offer, void *context);

/* Prints the processes that run Ruby. */
void rcore_cli_complete_process(rcore_cli_offer *offer, void *context);

#endif
