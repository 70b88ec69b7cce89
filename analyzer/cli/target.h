/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_TARGET_H
#define RCORE_CLI_TARGET_H

#include <argp.h>

#include "rcore.h"

/*
 * TARGET and its options, the same for every command: a command has
 * rcore_cli_target_argp as an argp child, and a struct rcore_cli_target as that child's
 * input.
 */
struct rcore_cli_target {
	const char *core;            /* or "coredump:ID" of coredump_folder; NULL: `pid` */
	const char *coredump_folder; /* NULL: RCORE_JOURNAL_FOLDER */
	int pid;
	bool children;
	struct rcore_options options;
	const char **search_paths; /* what options.search_paths points to */
	bool color;
};

extern const struct argp rcore_cli_target_argp;

/* The part that says where files are, for a command with targets of its own kind; the same input. */
extern const struct argp rcore_cli_files_argp;

/* For argp's args_doc. */
#define RCORE_CLI_TARGET_DOC "CORE [EXE]\n-p PID"

struct rcore_error *rcore_cli_target_open(const struct rcore_cli_target *target,
					  struct rcore_session **ret);

/* Calls `run` for the target, or with --children for each process of the tree, one after the other; what
 * is no Ruby process there, or has ended by then, is skipped with a line. `run` gives its exit status and
 * may set *ret_error in place of it. Gives the exit status of the whole. */
int rcore_cli_target_each(const struct rcore_cli_target *target,
			  int (*run)(const struct rcore_cli_target *target, void *context,
				     struct rcore_error **ret_error),
			  void *context);

void rcore_cli_target_deinit(struct rcore_cli_target *target);

/* Prints "rcore: <message>" to the standard error, and gives the exit status; takes
 * ownership of `err`. */
int rcore_cli_fail(struct rcore_error *err);

#endif
