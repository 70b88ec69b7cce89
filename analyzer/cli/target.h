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
	const char *container; /* a part of its id, or NULL; becomes `pid` */
	bool children;
	size_t watch; /* seconds; 0: look once */
	struct rcore_options options;
	bool color;
	/*
	 * As on the command line. rcore_cli_target_settle() copies them to
	 * `options` and `color`.
	 */
	struct rcore_strings search_paths;
	int color_when, redact;
};

/* Call this once, after the options were parsed. */
void rcore_cli_target_settle(struct rcore_cli_target *target);

/*
 * Takes CORE and EXE from the first arguments unless -p is given. The second
 * argument is EXE if the command accepts no other arguments, or if a file has
 * that name and the other arguments are not targets. *ret_used is the number of
 * arguments taken. Error: USAGE, which names what is missing or unexpected.
 */
struct rcore_error *rcore_cli_target_take(struct rcore_cli_target *target,
					  const struct rcore_strings *words,
					  const struct rcore_command *command,
					  size_t *ret_used);

struct rcore_error *rcore_cli_target_open(const struct rcore_cli_target *target,
					  struct rcore_session **ret);

/* One run of a command: where it prints, and what a summary prints about it. */
struct rcore_cli_look {
	FILE *out;
	size_t threads; /* 0: unknown */
	/* What blocks the most; "" if nothing does; ends with "..." if cut. */
	char summary[2048];
	char gap[512]; /* what is missing, unless the report says so */
};

/* Counts the threads, and finds what blocks the most. */
void rcore_cli_summarize(const struct rcore_snapshot *snapshot, struct rcore_cli_look *look);

/* Returns its exit status, or sets *ret_error. */
typedef int rcore_cli_run(const struct rcore_cli_target *target, void *context,
			  struct rcore_cli_look *look, struct rcore_error **ret_error);

/*
 * --children: calls `run` for each process of the tree, the target first. Skips
 * processes that are not Ruby, or have ended meanwhile, with a message. If the
 * output is text, a summary of all comes first, and each report begins with the
 * name of its process. Returns the exit status of rcore.
 */
int rcore_cli_target_tree(const struct rcore_cli_target *target, rcore_cli_run *run,
			  void *context, FILE *out, bool is_text);

/*
 * If a signal has stopped a process, prints a line to standard error that says
 * so: its threads do not run, whatever the report says that they do.
 */
void rcore_cli_note_stopped(int pid);

/*
 * If a process is the master of other processes, prints a line to standard
 * error that names --children.
 */
void rcore_cli_suggest_children(int pid);

/*
 * Prints "rcore: <message>" to standard error and returns the exit status.
 * Takes ownership of `err`.
 */
int rcore_cli_fail(struct rcore_error *err);

#endif
