/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_OUTPUT_H
#define RCORE_TARGET_OUTPUT_H

#include <limits.h>
#include <stdio.h>

#include "target/output/destination.h"

/*
 * Whatever rcore writes it writes here: `make lint` finds other places. A plain
 * file is written beside its place, without a name if the file system can do so
 * (nothing is left of it whatever ends the process), and appears whole under
 * its name or not at all. Terminals, pipes, FIFOs, other character devices and
 * open descriptors are written to once all is there: they are never replaced.
 * rcore_destination_find() says what is refused.
 */

enum rcore_output_kind {
	/* As the umask has it; what it replaces keeps mode and owner. */
	RCORE_OUTPUT_REPORT,
	/* Only the user can read it: a core holds secrets. */
	RCORE_OUTPUT_PRIVATE,
	RCORE_OUTPUT_NEW, /* private, and replaces nothing */
};

/* One that is being written. */
struct rcore_output {
	int fd; /* a plain file, empty at first */
	int through;
	enum rcore_output_kind kind;
	struct rcore_destination to;
	char temporary[PATH_MAX]; /* "": it has no name yet */
};

/* Errors: OS, and as rcore_destination_find(). A FIFO waits for its reader. */
struct rcore_error *rcore_output_open(const char *path, enum rcore_output_kind kind,
				      const struct rcore_inputs *inputs,
				      struct rcore_output *ret);

/*
 * Puts it in its place; it is still to be closed. Error: OS; then what was
 * there before is still there.
 */
struct rcore_error *rcore_output_keep(struct rcore_output *output);

/* What was not kept is gone. */
void rcore_output_close(struct rcore_output *output);

/* All three, around `write`, which prints to `out`. */
struct rcore_error *rcore_output_write(
	const char *path, enum rcore_output_kind kind, const struct rcore_inputs *inputs,
	struct rcore_error *(*write)(FILE *out, const void *context), const void *context);

/*
 * Appends a line to a log that only the user can read; USAGE if it is no plain
 * file.
 */
struct rcore_error *rcore_output_append(const char *path, const char *line);

/* A file without a name in $TMPDIR or /var/tmp; -1 and errno. */
int rcore_temporary_open(void);
const char *rcore_temporary_folder(void);

#endif
