/* SPDX-License-Identifier: MIT */
#include "cli/target.h"

#include <limits.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/text.h"
#include "command/command.h"
#include "target/journal.h"

enum {
	KEY_SYSROOT = 0x100,
	KEY_SEARCH_PATH,
	KEY_LAYOUT,
	KEY_COLOR,
	KEY_NO_STOP,
	KEY_CHILDREN,
	KEY_REDACT,
	KEY_COREDUMP_DIR,
};

static const struct argp_option files_options[] = {
	{"sysroot", KEY_SYSROOT, "DIR", 0,
	 "Take the target's files from DIR (a container's or another machine's file system)",
	 0},
	{"lib-search-path", KEY_SEARCH_PATH, "DIR", 0,
	 "Look for the target's files in DIR, by build-id and name; may be given again", 0},
	{"layout", KEY_LAYOUT, "FILE", 0, "Use this layout table (of rcore layout)", 0},
	{"color", KEY_COLOR, "WHEN", 0, "auto (the default), always or never", 0},
	{"redact", KEY_REDACT, "WHAT", 0, RCORE_REDACT_HELP, 0},
	{0},
};

static const struct argp_option options[] = {
	{"coredump-dir", KEY_COREDUMP_DIR, "DIR", 0,
	 "Where CORE is coredump:PID or coredump:NAME, as of coredumpctl: its folder "
	 "(" RCORE_JOURNAL_FOLDER ")",
	 0},
	{"pid", 'p', "PID", 0,
	 "A running process in place of a core: stopped for some milliseconds, and let go", 0},
	{"children", KEY_CHILDREN, NULL, 0,
	 "With -p, also the processes that descend from it (a cluster of workers)", 0},
	{"no-stop", KEY_NO_STOP, NULL, 0,
	 "With -p, read while it runs: Ruby frames only, and they may not fit together", 0},
	{0},
};

static bool color_by_default(void)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
	if (no_color && no_color[0])
		return false;
	return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

static void set_color(struct argp_state *state, struct rcore_cli_target *target,
		      const char *when)
{
	if (strcmp(when, "always") == 0)
		target->color = true;
	else if (strcmp(when, "never") == 0)
		target->color = false;
	else if (strcmp(when, "auto") != 0)
		argp_error(state, "--color is auto, always or never, not '%s'", when);
}

static void set_redact(struct argp_state *state, struct rcore_cli_target *target,
		       const char *what)
{
	struct rcore_common common = {0};
	rcore_auto_error err = rcore_option_set(&rcore_common_options[0], &common, what);
	if (err)
		argp_error(state, "%s", err->message);
	target->options.redact = (enum rcore_redact)common.redact;
}

static void add_search_path(struct argp_state *state, struct rcore_cli_target *target,
			    const char *path)
{
	size_t count = target->options.search_path_count;
	const char **paths = reallocarray(target->search_paths, count + 1, sizeof(*paths));
	if (!paths)
		argp_failure(state, 2, 0, "out of memory");
	paths[count] = path;
	target->search_paths = paths;
	target->options.search_paths = paths;
	target->options.search_path_count = count + 1;
}

static void add_argument(struct argp_state *state, struct rcore_cli_target *target,
			 const char *argument)
{
	if (!target->core)
		target->core = argument;
	else if (!target->options.executable)
		target->options.executable = argument;
	else
		argp_error(state, "one core at a time: what is '%s'?", argument);
}

static int parse_pid(const struct argp_state *state, const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);
	if (*end || end == text || pid <= 0 || pid > INT_MAX)
		argp_error(state, "-p takes the number of a process, not '%s'", text);
	return (int)pid;
}

static void check(const struct argp_state *state, const struct rcore_cli_target *target)
{
	if (target->core && target->pid)
		argp_error(state, "a core or -p, not both: what is '%s'?", target->core);
	if (!target->core && !target->pid)
		argp_error(state, "which core file? (or -p PID for a running process)");
	if (!target->pid && (target->children || target->options.no_stop))
		argp_error(state, "%s goes with -p PID",
			   target->children ? "--children" : "--no-stop");
}

static error_t parse_files(int key, char *argument, struct argp_state *state)
{
	struct rcore_cli_target *target = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		target->color = color_by_default();
		return 0;
	case KEY_SYSROOT:
		target->options.sysroot = argument;
		return 0;
	case KEY_SEARCH_PATH:
		add_search_path(state, target, argument);
		return 0;
	case KEY_LAYOUT:
		target->options.layout_file = argument;
		return 0;
	case KEY_COLOR:
		set_color(state, target, argument);
		return 0;
	case KEY_REDACT:
		set_redact(state, target, argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp rcore_cli_files_argp = {
	.options = files_options,
	.parser = parse_files,
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct rcore_cli_target *target = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = target;
		return 0;
	case 'p':
		target->pid = parse_pid(state, argument);
		return 0;
	case KEY_COREDUMP_DIR:
		target->coredump_folder = argument;
		return 0;
	case KEY_NO_STOP:
		target->options.no_stop = true;
		return 0;
	case KEY_CHILDREN:
		target->children = true;
		return 0;
	case ARGP_KEY_ARG:
		add_argument(state, target, argument);
		return 0;
	case ARGP_KEY_END:
		check(state, target);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&rcore_cli_files_argp, 0, NULL, 0}, {0}};

const struct argp rcore_cli_target_argp = {
	.options = options,
	.parser = parse,
	.children = children,
};

void rcore_cli_target_deinit(struct rcore_cli_target *target)
{
	free(target->search_paths);
}

static struct rcore_error *open_coredump(const struct rcore_cli_target *target, const char *id,
					 struct rcore_session **ret)
{
	const char *folder = target->coredump_folder;
	char *path;
	struct rcore_error *err =
		rcore_journal_find(folder ? folder : RCORE_JOURNAL_FOLDER, id, &path);
	if (err)
		return err;
	err = rcore_open_core(path, &target->options, ret);
	free(path);
	return err;
}

struct rcore_error *rcore_cli_target_open(const struct rcore_cli_target *target,
					  struct rcore_session **ret)
{
	static const char coredump[] = "coredump:";
	if (target->pid)
		return rcore_open_pid(target->pid, &target->options, ret);
	if (!strncmp(target->core, coredump, strlen(coredump)))
		return open_coredump(target, target->core + strlen(coredump), ret);
	return rcore_open_core(target->core, &target->options, ret);
}

int rcore_cli_fail(struct rcore_error *err)
{
	int status = err->code == RCORE_ERROR_NOT_RUBY ? 3
		     : err->code == RCORE_ERROR_USAGE  ? EX_USAGE
						       : 2;
	/* A path on the command line may hold anything, and a message is one line. */
	fputs("rcore: ", stderr);
	rcore_escape_write(stderr, err->message);
	putc('\n', stderr);
	rcore_error_free(err);
	__fpurge(stdout); /* what could not be written was told */
	return status;
}
