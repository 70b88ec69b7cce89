/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_TARGET_H
#define RCORE_CLI_TARGET_H

#include "command/command.h"

/*
 * TARGET and the options that say where its files are: the same for every
 * command of the shell.
 */
struct rcore_cli_target {
	/* Or "coredump:ID" of coredump_folder; NULL: `pid`. */
	const char *core;
	const char *coredump_folder; /* NULL: RCORE_JOURNAL_FOLDER */
	int pid;
	bool children;
	struct rcore_options options;
	bool color;
	/*
	 * As given; rcore_cli_target_settle() puts them into `options` and
	 * `color`.
	 */
	struct rcore_words search_paths;
	int color_when, redact;
};

/* Options of struct rcore_cli_target; each ends with {0}. */
/* Where files are, and looks. */
extern const struct rcore_option rcore_cli_files_options[];
extern const struct rcore_option
	rcore_cli_target_options[]; /* which target, and how to read it */

/* To be called once, after the options were parsed. */
void rcore_cli_target_settle(struct rcore_cli_target *target);

/*
 * Uses the first words of a command line as CORE and EXE unless -p is given; a
 * second word is EXE if the command takes no other words, or if a file has that
 * name. *ret_used: how many words. Error: USAGE, which names what is missing or
 * too much.
 */
struct rcore_error *rcore_cli_target_take(struct rcore_cli_target *target,
					  const struct rcore_words *words, bool takes_more,
					  size_t *ret_used);

struct rcore_error *rcore_cli_target_open(const struct rcore_cli_target *target,
					  struct rcore_session **ret);

/*
 * Calls `run` for the target, or with --children for each process of the tree,
 * one after the other; what is no Ruby process there, or has ended by then, is
 * skipped with a line. `run` gives its exit status and may set *ret_error in
 * place of it. Gives the exit status of the whole.
 */
int rcore_cli_target_each(const struct rcore_cli_target *target,
			  int (*run)(const struct rcore_cli_target *target, void *context,
				     struct rcore_error **ret_error),
			  void *context);

/*
 * Prints "rcore: <message>" to the standard error, and gives the exit status;
 * takes ownership of `err`.
 */
int rcore_cli_fail(struct rcore_error *err);

#endif
