/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_TREE_H
#define RCORE_TARGET_LIVE_TREE_H

#include <stddef.h>

#include "base/error.h"

/*
 * `pid` and the processes that descend from it, each parent before its
 * children, these by their numbers. The caller frees *ret. Errors: OS (no such
 * process), NO_MEMORY.
 */
struct rcore_error *rcore_process_tree(int pid, int **ret, size_t *ret_count);

/*
 * The processes of this system that we see, by their numbers; ended ones are
 * left out. The caller frees *ret. Errors: OS, NO_MEMORY.
 */
struct rcore_error *rcore_process_list(int **ret, size_t *ret_count);

#endif
