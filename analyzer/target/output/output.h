/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_OUTPUT_H
#define RCORE_TARGET_OUTPUT_H

#include <limits.h>
#include <stdio.h>

#include "target/output/destination.h"

/*
 * Every output that rcore writes goes through this file; `make lint` finds
 * others. rcore_destination_find() says what is refused.
 *
 * A plain file is written next to its place, without a name if the file system
 * supports that: if the process is killed, nothing remains. It appears complete
 * under its name, or not at all. Terminals, pipes, FIFOs, other character
 * devices and open descriptors are written to at the end, never replaced.
 *
 * Another program may put something else under the name between the check and
 * the end. renameat2(RENAME_EXCHANGE) then brings it to light and gives it its
 * name back, so it lacks its name for an instant. Without RENAME_EXCHANGE (some
 * network file systems), rename() replaces it; rcore cannot prevent that.
 */

enum rcore_output_kind {
	/* As the umask has it; what it replaces keeps mode and owner. */
	RCORE_OUTPUT_REPORT,
	/* Only the user can read it: a core holds secrets. */
	RCORE_OUTPUT_PRIVATE,
	RCORE_OUTPUT_NEW, /* private, and replaces nothing */
};

/* A file that is being written. */
struct rcore_output {
	int fd; /* a plain file, empty at first */
	int through;
	enum rcore_output_kind kind;
	struct rcore_destination to;
	char temporary[PATH_MAX]; /* "": it has no name yet */
};

/*
 * Opens an output. A FIFO waits for its reader. Errors: OS, and those of
 * rcore_destination_find().
 */
struct rcore_error *rcore_output_open(const char *path, enum rcore_output_kind kind,
				      const struct rcore_inputs *inputs,
				      struct rcore_output *ret);

/*
 * Puts it in its place. The caller closes it afterwards. Error: OS; what was
 * there before is then still there.
 */
struct rcore_error *rcore_output_keep(struct rcore_output *output);

/* Closes it. What was not kept is deleted. */
void rcore_output_close(struct rcore_output *output);

/* Does all three. `write` prints to `out`. */
struct rcore_error *rcore_output_write(
	const char *path, enum rcore_output_kind kind, const struct rcore_inputs *inputs,
	struct rcore_error *(*write)(FILE *out, const void *context), const void *context);

/*
 * Appends a line to a log that only the user can read. Error: USAGE if it is
 * not a regular file.
 */
struct rcore_error *rcore_output_append(const char *path, const char *line);

/* Opens a file without a name in $TMPDIR or /var/tmp. -1: see errno. */
int rcore_temporary_open(void);
const char *rcore_temporary_folder(void);

#endif
