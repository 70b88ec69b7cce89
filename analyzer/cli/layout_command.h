/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_LAYOUT_COMMAND_H
#define RCORE_CLI_LAYOUT_COMMAND_H

#include <stdbool.h>

#include "base/error.h"

/* The parts of `rcore layout` that need no target; they print to the standard output. */

/* The user's tables and the built-in ones, a line each. */
struct rcore_error *rcore_cli_layout_list(void);

/* What differs between two tables (files, or names of built-in ones), a line each. */
struct rcore_error *rcore_cli_layout_diff(const char *left, const char *right,
					  bool *ret_differ);

#endif
