/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_JOBS_H
#define RCORE_CLI_JOBS_H

#include <stddef.h>

#include "base/error.h"

/*
 * Runs jobs, each in a process of its own with limits of time and memory, so
 * that a crash of one does not affect the others.
 */
struct rcore_jobs {
	size_t count;
	size_t at_once;   /* 0: as many as there are processors */
	unsigned seconds; /* for each; 0: no limit */
	size_t megabytes; /* of its own memory, for each; 0: no limit */
	/*
	 * Runs in the child: writes its text to `fd` and returns an exit
	 * status.
	 */
	int (*run)(size_t index, int fd, void *context);
	/*
	 * Runs in the parent, in the order in which the jobs end. `text` is
	 * NUL-terminated and belongs to the callee. `status` is the exit
	 * status; -N: signal N ended it; -SIGXCPU: the time limit did.
	 */
	void (*done)(size_t index, char *text, int status, void *context);
	void *context;
};

/*
 * Runs all jobs. Errors: OS (no process could be started), NO_MEMORY; running
 * children are then ended.
 */
struct rcore_error *rcore_jobs_run(const struct rcore_jobs *jobs);

#endif
