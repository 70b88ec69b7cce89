/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_CORE_PATHS_H
#define RCORE_CLI_CORE_PATHS_H

#include <stddef.h>

#include "base/error.h"
#include "command/command.h"

/* The cores that `rcore triage` reads. The caller frees each and the array. */
struct rcore_core_paths {
	char **items;
	size_t count, capacity;
};

/*
 * Adds the files that `words` names, and the core files in the folders that it
 * names, in the order of their names. Leaves out a stored core whose pack is
 * next to it. Errors: OS, NO_MEMORY; FORMAT if a folder contains no core.
 */
struct rcore_error *rcore_core_paths_expand(const struct rcore_strings *words,
					    struct rcore_core_paths *cores);

#endif
