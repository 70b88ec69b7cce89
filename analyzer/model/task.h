/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_TASK_H
#define RCORE_MODEL_TASK_H

#include <stdbool.h>
#include <stdint.h>

/* A node of the task tree of the gem `async`: a task, or the scheduler at the root. */
struct rcore_task {
	uint64_t object; /* VALUE */
	const char *class_name;
	const char *annotation; /* NULL: none */
	const char *status; /* "running", "initialized", "completed" ...; NULL: it is no task */
	bool is_transient;
	int parent; /* index into snapshot->tasks, always a lower one; -1: a root */
	int depth;  /* roots: 0 */
	int fiber;  /* index into snapshot->fibers; -1: none (yet, or any more) */
	const char *problem;
};

#endif
