/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_JOBS_H
#define RCORE_CLI_JOBS_H

#include <stddef.h>

#include "base/error.h"

/*
 * Work on many inputs, each in a process of its own with limits of time and
 * memory: what one does to itself, the rest does not feel.
 */
struct rcore_jobs {
	size_t count;
	size_t at_once;   /* 0: as many as there are processors */
	unsigned seconds; /* for each; 0: no limit */
	size_t megabytes; /* of its own memory, for each; 0: no limit */
	/* In the child: writes its text to `fd` and gives an exit status. */
	int (*run)(size_t index, int fd, void *context);
	/*
	 * In the parent, in the order in which they end: the text
	 * (NUL-terminated, its own), and the exit status; -N: ended by signal
	 * N, -SIGXCPU: by the limit of time.
	 */
	void (*done)(size_t index, char *text, int status, void *context);
	void *context;
};

/*
 * Runs all. Error: OS (no process could be started), NO_MEMORY; children that
 * run are ended then.
 */
struct rcore_error *rcore_jobs_run(const struct rcore_jobs *jobs);

#endif
