/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_OUTPUT_H
#define RCORE_TARGET_OUTPUT_H

#include <limits.h>
#include <stdio.h>

#include "target/output/destination.h"

/*
 * target/output/ writes every output of rcore; `make lint` finds others. It
 * includes base/ only. Start here; destination.h says what is refused.
 *
 * A plain file is written next to its final place, without a name if the file
 * system supports that: if the process is killed, nothing remains. It appears
 * complete under its name, or not at all. If it replaces a file, it has a
 * temporary name next to it for an instant, which a kill just then leaves.
 * Terminals, pipes, FIFOs, other character devices and open descriptors are
 * written to at the end, never replaced.
 *
 * Another program may put something else under the name between the check and
 * the end. renameat2(RENAME_EXCHANGE) then reveals it, and it gets its name
 * back, so that it has no name for an instant. Without RENAME_EXCHANGE (some
 * network file systems), rename() replaces it; rcore cannot prevent that.
 */

enum rcore_output_kind {
	/* With the umask; a file that it replaces keeps mode and owner. */
	RCORE_OUTPUT_REPORT,
	/* Only the user can read it, because a core contains secrets. */
	RCORE_OUTPUT_PRIVATE,
	RCORE_OUTPUT_NEW, /* private, and replaces nothing */
};

enum { RCORE_OUTPUT_NAME_SIZE = 600 };

/* A file that is being written. */
struct rcore_output {
	int fd; /* a plain file, empty at first */
	int through;
	/* What the paths below are relative to: a descriptor, or AT_FDCWD. */
	int folder;
	enum rcore_output_kind kind;
	struct rcore_destination to;
	char temporary[PATH_MAX]; /* "": it has no name yet */
};

/*
 * Opens an output. For a FIFO, waits for its reader. Errors: OS, and those of
 * rcore_destination_find().
 */
struct rcore_error *rcore_output_open(const char *path, enum rcore_output_kind kind,
				      const struct rcore_inputs *inputs,
				      struct rcore_output *ret);

/*
 * Opens a new file of an open folder, as RCORE_OUTPUT_NEW: whoever replaces the
 * folder's name does not change where the file goes. `folder` stays open until
 * the output is closed. Error: OS, also if there is a file with this name.
 */
struct rcore_error *rcore_output_open_at(int folder, const char *name,
					 struct rcore_output *ret);

/*
 * Returns an output that writes to a plain file, empty, which the caller has
 * opened; it is not to be kept or closed. `name` is for messages.
 */
struct rcore_output rcore_output_of_file(int fd, const char *name);

/*
 * Sets `ret` to the name for error messages: that of the output, or of the
 * temporary file that has everything until a stream is written to.
 */
void rcore_output_name(const struct rcore_output *output, char ret[RCORE_OUTPUT_NAME_SIZE]);

/* Prints to an open output. Error: OS, and those of `write`. */
struct rcore_error *rcore_output_fill(const struct rcore_output *output,
				      struct rcore_error *(*write)(FILE *out,
								   const void *context),
				      const void *context);

/*
 * Puts the output in its place. The caller closes it afterwards. Error: OS; the
 * previous file is then unchanged.
 */
struct rcore_error *rcore_output_keep(struct rcore_output *output);

/* Closes it. Deletes it if it was not kept. */
void rcore_output_close(struct rcore_output *output);

/* Opens, writes, keeps and closes an output. `write` prints to `out`. */
struct rcore_error *rcore_output_write(
	const char *path, enum rcore_output_kind kind, const struct rcore_inputs *inputs,
	struct rcore_error *(*write)(FILE *out, const void *context), const void *context);

/*
 * Names an open regular file `path`, like an output of RCORE_OUTPUT_NEW. Links
 * the file itself if it never had a name and is on the same file system;
 * otherwise writes a copy. Error: OS.
 */
struct rcore_error *rcore_output_name_file(int fd, const char *path);

/*
 * Appends a line to a log that only the user can read. If it has more than
 * `largest` bytes, it first becomes PATH.1, and replaces that. On a full disk,
 * no part of the line stays. Errors: OS; USAGE if it is not a regular file.
 */
struct rcore_error *rcore_output_append(const char *path, const char *line, size_t largest);

/*
 * Creates a file in an open folder that only the user can read. Returns -1 and
 * sets errno on failure: EEXIST, too, if the name is a link to nowhere.
 */
int rcore_output_create_at(int folder, const char *name);

/*
 * Opens a file without a name in $TMPDIR or /var/tmp. Returns -1 and sets errno
 * on failure.
 */
int rcore_temporary_open(void);
/*
 * Creates a file in the same folder that only the user can read, and sets `ret`
 * to its path, which ends with `name` and a unique suffix. Returns -1 and sets
 * errno on failure.
 */
int rcore_temporary_create(const char *name, char ret[PATH_MAX]);
const char *rcore_temporary_folder(void);

#endif
