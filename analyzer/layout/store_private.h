/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_STORE_PRIVATE_H
#define RCORE_LAYOUT_STORE_PRIVATE_H

#include "layout/layout.h"

/* Of the two files of store.h alone. */

/*
 * The table in an open file; `path` for messages. Errors as
 * rcore_layout_read().
 */
struct rcore_error *rcore_layout_read_fd(int fd, const char *path, struct rcore_layout *ret);

/*
 * $VARIABLE/rcore/layouts, else $HOME/BELOW_HOME/rcore/layouts, malloc'ed;
 * NULL: neither.
 */
char *rcore_layout_xdg_folder(const char *variable, const char *below_home);

#endif
