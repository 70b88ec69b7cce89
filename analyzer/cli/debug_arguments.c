/* SPDX-License-Identifier: MIT */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "cli/debug.h"

void rcore_argv_add(struct rcore_argv *words, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char **word = rcore_push(words);
	if (!word || vasprintf(word, format, arguments) < 0)
		errx(2, "out of memory");
	va_end(arguments);
}

/*
 * Returns `text` in double quotes, as LLDB's commands and Python expect it,
 * malloc'ed.
 */
static char *quote(const char *text)
{
	char *quoted = malloc(2 * strlen(text) + 3), *end = quoted;
	if (!quoted)
		errx(2, "out of memory");
	*end++ = '"';
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			*end++ = '\\';
		*end++ = *text;
	}
	*end++ = '"';
	*end = '\0';
	return quoted;
}

static void tell_gdb_search_paths(const struct rcore_debug *debug, struct rcore_argv *before)
{
	char *all = NULL, *longer;
	for (size_t i = 0; i < debug->search_path_count; i++) {
		if (asprintf(&longer, "%s%s%s", all ? all : "", all ? ":" : "",
			     debug->search_paths[i]) < 0)
			errx(2, "out of memory");
		free(all);
		all = longer;
	}
	if (all)
		rcore_argv_add(before, "--init-eval-command=set solib-search-path %s", all);
	free(all);
}

void rcore_debug_gdb(const struct rcore_debug *debug, struct rcore_argv *before,
		     struct rcore_argv *after)
{
	if (debug->sysroot)
		rcore_argv_add(before, "--init-eval-command=set sysroot %s", debug->sysroot);
	tell_gdb_search_paths(debug, before);
	rcore_argv_add(before, "--init-eval-command=source %s", debug->script);
	if (debug->executable)
		rcore_argv_add(after, "--se=%s", debug->executable);
	if (debug->core)
		rcore_argv_add(after, "--core=%s", debug->core);
	else
		rcore_argv_add(after, "--pid=%s", debug->pid);
}

/*
 * LLDB looks for the files of a core in the sysroot of a platform, and for
 * those of a process in the search paths of a target, which must exist before
 * LLDB attaches. It has no single option for both.
 */
static void add_lldb_sysroot(const struct rcore_debug *debug, struct rcore_argv *before)
{
	char *quoted = quote(debug->sysroot);
	rcore_argv_add(before, "-O");
	rcore_argv_add(before, "script rcore_lldb.look_in(sysroot=%s)", quoted);
	if (debug->core) {
		rcore_argv_add(before, "-O");
		rcore_argv_add(before, "platform select --sysroot %s remote-linux", quoted);
	}
	free(quoted);
}

/* If a process has another root folder, its file names start there. */
static void attach_under(const struct rcore_debug *debug, struct rcore_argv *before)
{
	char *program = quote(debug->executable), *quoted = quote(debug->sysroot);
	rcore_argv_add(before, "-o");
	rcore_argv_add(before, "target create %s", program);
	rcore_argv_add(before, "-o");
	rcore_argv_add(before, "target modules search-paths add / %s", quoted);
	rcore_argv_add(before, "-o");
	rcore_argv_add(before, "process attach --pid %s", debug->pid);
	free(program);
	free(quoted);
}

static void tell_lldb_search_paths(const struct rcore_debug *debug, struct rcore_argv *before)
{
	for (size_t i = 0; i < debug->search_path_count; i++) {
		char *quoted = quote(debug->search_paths[i]);
		rcore_argv_add(before, "-O");
		rcore_argv_add(before, "settings append target.exec-search-paths %s", quoted);
		rcore_argv_add(before, "-O");
		rcore_argv_add(before, "script rcore_lldb.look_in(lib_search_path=%s)", quoted);
		free(quoted);
	}
}

void rcore_debug_lldb(const struct rcore_debug *debug, struct rcore_argv *before,
		      struct rcore_argv *after)
{
	char *script = quote(debug->script);
	rcore_argv_add(before, "-O");
	rcore_argv_add(before, "command script import %s", script);
	free(script);
	if (debug->sysroot)
		add_lldb_sysroot(debug, before);
	tell_lldb_search_paths(debug, before);
	if (debug->pid && debug->sysroot && debug->executable) {
		attach_under(debug, before);
		return;
	}
	if (debug->core) {
		rcore_argv_add(after, "--core");
		rcore_argv_add(after, "%s", debug->core);
	} else {
		rcore_argv_add(after, "--attach-pid");
		rcore_argv_add(after, "%s", debug->pid);
	}
	if (debug->executable)
		rcore_argv_add(after, "%s", debug->executable);
}
