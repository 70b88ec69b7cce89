/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_DESTINATION_H
#define RCORE_TARGET_DESTINATION_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"
#include "target/output/inputs.h"

/* What a path stands for that is to be written. */
enum rcore_destination_kind {
	RCORE_DESTINATION_NEW,  /* nothing is there yet */
	RCORE_DESTINATION_FILE, /* a plain file, to be replaced */
	/* A FIFO, terminal or other character device. */
	RCORE_DESTINATION_STREAM,
	/* Open in this process: /dev/stdout, /proc/self/fd/3. */
	RCORE_DESTINATION_DESCRIPTOR,
};

struct rcore_destination {
	enum rcore_destination_kind kind;
	char path[PATH_MAX]; /* its last component is no symbolic link */
	struct stat status;  /* not of NEW */
	int descriptor;      /* of DESCRIPTOR */
};

/*
 * Finds what `path` stands for; changes nothing, and opens nothing. Follows a
 * symbolic link to a file that is there, as cp does, but in a folder that
 * everybody can write only links and files of the user or of the folder's owner
 * (as the kernel's fs.protected_symlinks and fs.protected_regular).
 *
 * USAGE: one of `inputs` (may be NULL), a directory, a block device, a socket,
 * a link to nothing, a file of another process in /proc. OS: the file or its
 * folder cannot be written.
 */
struct rcore_error *rcore_destination_find(const char *path, const struct rcore_inputs *inputs,
					   struct rcore_destination *ret);

/* Whether both would write the same plain file. */
bool rcore_destination_is_same(const struct rcore_destination *a,
			       const struct rcore_destination *b);

#endif
