/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_TARGET_H
#define RCORE_CLI_TARGET_H

#include "command/command.h"

/*
 * TARGET and the options that say where its files are, the same for every
 * command of the shell.
 */
struct rcore_cli_target {
	/* A path, or "coredump:ID" of coredump_folder; NULL: `pid`. */
	const char *core;
	const char *coredump_folder; /* NULL: RCORE_JOURNAL_FOLDER */
	int pid;
	bool children;
	struct rcore_options options;
	bool color;
	/*
	 * As on the command line. rcore_cli_target_settle() copies them to
	 * `options` and `color`.
	 */
	struct rcore_strings search_paths;
	int color_when, redact;
};

/* Options of struct rcore_cli_target; each ends with {0}. */
/* Where files are, and how the output looks. */
extern const struct rcore_option rcore_cli_files_options[];
extern const struct rcore_option
	rcore_cli_target_options[]; /* which target, and how to read it */

/* Call this once, after the options were parsed. */
void rcore_cli_target_settle(struct rcore_cli_target *target);

/*
 * Takes CORE and EXE from the first arguments unless -p is given. The second
 * argument is EXE if the command accepts no other arguments, or if a file has
 * that name. *ret_used is the number of arguments taken. Error: USAGE, which
 * names what is missing or unexpected.
 */
struct rcore_error *rcore_cli_target_take(struct rcore_cli_target *target,
					  const struct rcore_strings *words, bool takes_more,
					  size_t *ret_used);

struct rcore_error *rcore_cli_target_open(const struct rcore_cli_target *target,
					  struct rcore_session **ret);

/*
 * Calls `run` for the target, or, with --children, for each process of the tree
 * in turn. Skips processes that are not Ruby, or have ended meanwhile, with a
 * message. `run` returns its exit status, or sets *ret_error. Returns the exit
 * status of rcore.
 */
int rcore_cli_target_each(const struct rcore_cli_target *target,
			  int (*run)(const struct rcore_cli_target *target, void *context,
				     struct rcore_error **ret_error),
			  void *context);

/*
 * Prints "rcore: <message>" to standard error and returns the exit status.
 * Takes ownership of `err`.
 */
int rcore_cli_fail(struct rcore_error *err);

#endif
