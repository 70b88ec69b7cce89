/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/target.h"
#include "report/formats.h"

/*
 * As the kernel's handler (core(5), "Piping core dumps to a program") this runs as root in the initial
 * namespaces, without a terminal; the process that died is still there until its core was read, so its
 * files are found under /proc/PID/root.
 */
struct collect {
	struct rcore_cli_target target;
	const char *folder, *pid;
	char stem[PATH_MAX]; /* of all that is written */
};

enum { KEY_PID = 0x600 };

static const struct argp_option options[] = {
	{"directory", 'd', "DIR", 0, "Where reports and packs go (/var/crash)", 0},
	{"process", KEY_PID, "PID", 0,
	 "The process that died, as %P gives it: its files are found where it saw them", 0},
	{0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct collect *collect = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &collect->target;
		return 0;
	case 'd':
		collect->folder = argument;
		return 0;
	case KEY_PID:
		if (!argument[0] || argument[strspn(argument, "0123456789")])
			argp_error(state, "--process takes a number, not '%s'", argument);
		collect->pid = argument;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "the core comes by standard input: what is '%s'?", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{&rcore_cli_files_argp, 0, "Where the files of the core are, and looks:", 0},
	{0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Take a core from standard input, write its report (.txt, .json) and a pack "
	       "(.core) of it, "
	       "and keep nothing else: made to be the kernel's handler of core dumps. What is "
	       "no Ruby "
	       "process leaves a line in DIR/rcore.log.\v"
	       "Examples:\n\n"
	       "  echo '|/usr/local/bin/rcore collect -d /var/crash --process %P' "
	       "> /proc/sys/kernel/core_pattern\n"
	       "  rcore collect -d reports < core.1234\n\n"
	       "Exit status: 0 all was decoded; 1 not all was (what could be is written); 2 "
	       "nothing "
	       "was written; 3 not a Ruby process; 64 wrong usage.",
	.children = children,
};

/* Not even a clock that stands still makes two of one name. */
static struct rcore_error *choose_stem(struct collect *collect)
{
	char when[32];
	time_t now = time(NULL);
	struct tm parts;
	gmtime_r(&now, &parts);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &parts);
	for (int i = 0; i < 1000; i++) {
		char path[PATH_MAX + 8];
		int length = snprintf(collect->stem, sizeof(collect->stem), "%s/%s-%s-%d",
				      collect->folder, when,
				      collect->pid ? collect->pid : "core", i);
		snprintf(path, sizeof(path), "%s.txt", collect->stem);
		if (length < (int)sizeof(collect->stem) && access(path, F_OK))
			return NULL;
	}
	return rcore_error_create(RCORE_ERROR_OS, "%s: no free name for a report",
				  collect->folder);
}

static struct rcore_error *write_report(const struct collect *collect, const char *ending,
					const struct rcore_snapshot *snapshot)
{
	const struct rcore_format *format;
	char path[PATH_MAX + 8];
	const char *same;
	snprintf(path, sizeof(path), "%s%s", collect->stem, ending);
	struct rcore_error *err = rcore_format_of_output(path, &format, &same);
	if (err)
		return err;
	FILE *out = fopen(path, "wxe");
	if (!out)
		return rcore_error_os(errno, "%s", path);
	err = format->write(snapshot, NULL, out);
	if (fclose(out) && !err)
		err = rcore_error_os(errno, "%s", path);
	return err;
}

static struct rcore_error *collect_all(struct collect *collect, bool *ret_partial)
{
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	char path[PATH_MAX + 8];
	uint64_t size;
	struct rcore_error *err = rcore_open_core("-", &collect->target.options, &session);
	if (!err)
		err = rcore_load(session, &snapshot);
	if (!err)
		err = choose_stem(collect);
	if (!err)
		err = write_report(collect, ".txt", snapshot);
	if (!err)
		err = write_report(collect, ".json", snapshot);
	if (!err) {
		snprintf(path, sizeof(path), "%s.core", collect->stem);
		err = rcore_pack(session, snapshot, path, &size);
	}
	if (!err)
		*ret_partial = snapshot->incomplete;
	rcore_snapshot_free(snapshot);
	rcore_close(session);
	return err;
}

/* The kernel's handler has nobody to talk to. */
static void note(const struct collect *collect, const struct rcore_error *err)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/rcore.log", collect->folder);
	FILE *log = fopen(path, "ae");
	if (!log)
		return;
	fprintf(log, "%lld %s: %s\n", (long long)time(NULL),
		collect->pid ? collect->pid : "core", err->message);
	fclose(log);
}

int rcore_cli_collect(int argc, char **argv)
{
	struct collect collect = {.folder = "/var/crash",
				  .target.options.redact = RCORE_REDACT_SECRETS};
	bool is_partial = false;
	argp_parse(&argp, argc, argv, 0, NULL, &collect);
	char root[64];
	snprintf(root, sizeof(root), "/proc/%s/root", collect.pid ? collect.pid : "self");
	if (collect.pid && !collect.target.options.sysroot)
		collect.target.options.sysroot = root;
	collect.target.options.record = true;
	umask(077);
	struct rcore_error *err = NULL;
	if (mkdir(collect.folder, 0700) && errno != EEXIST)
		err = rcore_error_os(errno, "%s", collect.folder);
	if (!err)
		err = collect_all(&collect, &is_partial);
	if (err)
		note(&collect, err);
	rcore_cli_target_deinit(&collect.target);
	return err ? rcore_cli_fail(err) : is_partial;
}
