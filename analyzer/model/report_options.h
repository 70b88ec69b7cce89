/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_REPORT_OPTIONS_H
#define RCORE_MODEL_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum rcore_native_shown {
	/* Show the interpreter's own native frames as a count. */
	RCORE_NATIVE_FOLDED,
	RCORE_NATIVE_ALL,
	RCORE_NATIVE_NONE, /* Ruby frames only */
};

/*
 * Set `size` and leave the rest zero for the defaults. See rcore.h, "Options".
 */
struct rcore_report_options {
	size_t size; /* sizeof(struct rcore_report_options) */
	bool all;    /* show each fiber and frame, even if they are alike */
	enum rcore_native_shown native;
	bool color;     /* text: with escape sequences for a terminal */
	bool verbose;   /* addresses, and how things were found */
	bool no_stacks; /* of threads, only their lines */
	/* In reports of contexts, the stack of each fiber. */
	bool stacks;
	/* Only fibers that have a context, unless `fiber` is set. */
	bool only_contexts;
	/*
	 * Only this thread: "T2", a kernel thread id, a Thread VALUE or
	 * rb_thread_t ("0x7f...").
	 */
	const char *thread;
	/* Only this fiber: "T1.F3", a Fiber VALUE or rb_fiber_t ("0x7f..."). */
	const char *fiber;
	/*
	 * Only fibers whose context meets all of these: "key=value", or "key"
	 * for any value.
	 */
	const char *const *where;
	size_t where_count;
	/*
	 * The folder to which paths in the formats for CI are relative. NULL:
	 * only relative paths belong to the application.
	 */
	const char *source_root;
};

#endif
