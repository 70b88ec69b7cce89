/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_TREE_H
#define RCORE_TARGET_LIVE_TREE_H

#include <stddef.h>

#include "base/error.h"

/*
 * Lists `pid` and its descendants, each parent before its children, which are
 * ordered by id. The caller frees *ret. Errors: OS (no such process),
 * NO_MEMORY.
 */
struct rcore_error *rcore_process_tree(int pid, int **ret, size_t *ret_count);

/*
 * Lists those of `roots` that exist, and their descendants. The caller frees
 * *ret. Errors: OS, NO_MEMORY.
 */
struct rcore_error *rcore_process_trees(const int *roots, size_t root_count, int **ret,
					size_t *ret_count);

/*
 * Lists the visible processes of this system by id, except those that have
 * ended. The caller frees *ret. Errors: OS, NO_MEMORY.
 */
struct rcore_error *rcore_process_list(int **ret, size_t *ret_count);

/*
 * Does the same much faster, and includes zombies. The caller frees *ret.
 */
struct rcore_error *rcore_process_ids(int **ret, size_t *ret_count);

#endif
