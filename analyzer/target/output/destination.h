/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_DESTINATION_H
#define RCORE_TARGET_DESTINATION_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"
#include "target/output/inputs.h"

/* What the path of an output is. */
enum rcore_destination_kind {
	RCORE_DESTINATION_NEW,  /* nothing exists there yet */
	RCORE_DESTINATION_FILE, /* a plain file, to be replaced */
	/* A FIFO, terminal or other character device. */
	RCORE_DESTINATION_STREAM,
	/* A descriptor of this process: /dev/stdout, /proc/self/fd/3. */
	RCORE_DESTINATION_DESCRIPTOR,
};

struct rcore_destination {
	enum rcore_destination_kind kind;
	char path[PATH_MAX]; /* its last component is not a symbolic link */
	struct stat status;  /* except for NEW */
	int descriptor;      /* for DESCRIPTOR */
};

/*
 * Finds what `path` is. Changes nothing, and opens only plain files. Follows a
 * symbolic link to an existing file like cp. In a folder that everybody can
 * write, it only follows links to files of the user or of the folder's owner
 * (like the kernel's fs.protected_symlinks and fs.protected_regular).
 *
 * Errors: USAGE for one of `inputs` (may be NULL), a core that rcore did not
 * write, a directory, a block device, a socket, a link to nothing, or a file of
 * another process in /proc. OS if the file or its folder cannot be written.
 */
struct rcore_error *rcore_destination_find(const char *path, const struct rcore_inputs *inputs,
					   struct rcore_destination *ret);

/* Whether both would write the same plain file. */
bool rcore_destination_is_same(const struct rcore_destination *a,
			       const struct rcore_destination *b);

/*
 * Whether a path leads to the file that standard output writes, under whatever
 * name. What a command prints besides would then be mixed with its output.
 */
bool rcore_destination_is_stdout(const char *path);

#endif
