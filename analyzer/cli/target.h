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
	const char *core;
	struct rcore_options options;
	const char **search_paths; /* what options.search_paths points to */
	bool color;
};

extern const struct argp rcore_cli_target_argp;

/* "CORE [EXE]", for argp's args_doc. */
#define RCORE_CLI_TARGET_DOC "CORE [EXE]"

void rcore_cli_target_deinit(struct rcore_cli_target *target);

/* Prints "rcore: <message>" to the standard error, and gives the exit status; takes
 * ownership of `err`. */
int rcore_cli_fail(struct rcore_error *err);

#endif
