/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_INPUTS_H
#define RCORE_TARGET_INPUTS_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/error.h"

/* The files that are read, which no output may replace. All zeroes: none. */
struct rcore_input {
	dev_t device;
	ino_t inode;
	const char *what; /* "the core itself" */
};

struct rcore_inputs {
	struct rcore_input *items;
	size_t count, capacity;
};

/*
 * Adds the plain file at `path`, or of a descriptor. Does nothing for other
 * files, or if `path` is NULL. `what` must outlive the list. Error: NO_MEMORY.
 */
struct rcore_error *rcore_inputs_add(struct rcore_inputs *inputs, const char *path,
				     const char *what);
struct rcore_error *rcore_inputs_add_fd(struct rcore_inputs *inputs, int fd, const char *what);

/*
 * Returns what that file is, or NULL if it is not in the list. `inputs` may be
 * NULL.
 */
const char *rcore_inputs_find(const struct rcore_inputs *inputs, const struct stat *file);

void rcore_inputs_deinit(struct rcore_inputs *inputs);

#endif
