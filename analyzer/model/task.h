/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_TASK_H
#define RCORE_MODEL_TASK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A node in the task tree of the gem `async`: a task, or the scheduler at the
 * root.
 */
struct rcore_task {
	uint64_t object; /* VALUE */
	const char *class_name;
	const char *annotation; /* NULL: none */
	/* "running", "initialized", "completed" ...; NULL: not a task. */
	const char *status;
	bool is_transient;
	/* Index into snapshot->tasks, lower than its own; -1: a root. */
	int parent;
	int depth; /* 0 for a root */
	/* Index into snapshot->fibers; -1: not started, or finished. */
	int fiber;
	const char *problem;
};

#endif
