/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_DEBUG_H
#define RCORE_CLI_DEBUG_H

#include <stddef.h>

/* The arguments of `rcore gdb` and `rcore lldb`. */
struct rcore_debug {
	const char *core, *executable, *sysroot; /* NULL: not given */
	const char *pid;                         /* NULL: `core` */
	const char *const *search_paths;
	size_t search_path_count;
	const char *script; /* the plugin's, as a path */
};

/*
 * The arguments of the debugger. They and the array are malloc'ed; the array
 * ends with NULL. Functions that build the array end the process if memory is
 * short: nothing needs to be cleaned up yet.
 */
struct rcore_argv {
	char **items;
	size_t count, capacity;
};
void rcore_argv_add(struct rcore_argv *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Adds the arguments that precede the user's own, and those that follow them.
 */
void rcore_debug_gdb(const struct rcore_debug *debug, struct rcore_argv *before,
		     struct rcore_argv *after);
void rcore_debug_lldb(const struct rcore_debug *debug, struct rcore_argv *before,
		      struct rcore_argv *after);

#endif
