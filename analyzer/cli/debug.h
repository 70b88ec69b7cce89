/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_DEBUG_H
#define RCORE_CLI_DEBUG_H

#include <stddef.h>

/* What `rcore gdb` and `rcore lldb` were asked for. */
struct rcore_debug {
	const char *core, *executable, *sysroot; /* NULL: not given */
	const char *pid;                         /* NULL: `core` */
	const char *const *search_paths;
	size_t search_path_count;
	const char *script; /* the plugin's, as a path */
};

/*
 * The debugger's arguments, malloc'ed as is the array, ends with NULL.
 * Functions that build them end the process when memory is short: nothing has
 * been opened yet.
 */
struct rcore_words_made {
	char **items;
	size_t count, capacity;
};
void rcore_words_add(struct rcore_words_made *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* `text` in double quotes, as LLDB's commands and Python take it. malloc'ed. */
char *rcore_quoted(const char *text);

/*
 * What stands between the name of the debugger and the user's own arguments, or
 * behind those.
 */
void rcore_debug_gdb(const struct rcore_debug *debug, struct rcore_words_made *before,
		     struct rcore_words_made *behind);
void rcore_debug_lldb(const struct rcore_debug *debug, struct rcore_words_made *before,
		      struct rcore_words_made *behind);

#endif
