/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_STORE_PRIVATE_H
#define RCORE_LAYOUT_STORE_PRIVATE_H

#include "layout/layout.h"

/* Shared by the two files of store.h only. */

/*
 * Reads the table in an open file; `path` is for messages. Errors: those of
 * rcore_layout_read().
 */
struct rcore_error *rcore_layout_read_fd(int fd, const char *path, struct rcore_layout *ret);

/*
 * Returns $VARIABLE/rcore/layouts, otherwise $HOME/BELOW_HOME/rcore/layouts,
 * malloc'ed; NULL if neither is set.
 */
char *rcore_layout_xdg_folder(const char *variable, const char *below_home);

#endif
