/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_NEW_FILE_H
#define RCORE_TARGET_NEW_FILE_H

#include <limits.h>

/*
 * A file in the making: without a name where the file system can (nothing is left of it
 * whatever ends the process), else under a name of its own beside its place. It gets its name when it
 * is whole.
 */
struct rcore_new_file {
	int fd;
	char temporary[PATH_MAX]; /* "": it has no name yet */
};

/* Only the user can read it: a core holds secrets. 0 or errno. */
int rcore_new_file_open(const char *path, struct rcore_new_file *ret);

/* Gives it its name, in place of what has it now. 0 or errno; then it is still to be dropped. */
int rcore_new_file_keep(struct rcore_new_file *file, const char *path);

/* Closes it; what was not kept is gone. */
void rcore_new_file_close(struct rcore_new_file *file);

#endif
