/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/signal_name.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/jobs.h"
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
	unsigned seconds;
	size_t megabytes;
	char stem[PATH_MAX]; /* of all that is written */
	int status;
};

enum { KEY_PID = 0x600, KEY_TIME_LIMIT, KEY_MEMORY_LIMIT, STATUS_LIMIT = 124 };

static const struct argp_option options[] = {
	{"directory", 'd', "DIR", 0, "Where reports and packs go (/var/crash)", 0},
	{"process", KEY_PID, "PID", 0,
	 "The process that died, as %P gives it: its files are found where it saw them", 0},
	{"time-limit", KEY_TIME_LIMIT, "SECONDS", 0, "For all of it (120)", 0},
	{"memory-limit", KEY_MEMORY_LIMIT, "MIB", 0,
	 "Of rcore's own memory (2048); the core is put into $TMPDIR or /var/tmp meanwhile, "
	 "not "
	 "into memory",
	 0},
	{0},
};

static unsigned parse_number(const struct argp_state *state, const char *name, const char *text)
{
	if (!text[0] || strlen(text) > 9 || text[strspn(text, "0123456789")] || !atoi(text))
		argp_error(state, "--%s takes a number, not '%s'", name, text);
	return (unsigned)atoi(text);
}

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
	case KEY_TIME_LIMIT:
		collect->seconds = parse_number(state, "time-limit", argument);
		return 0;
	case KEY_MEMORY_LIMIT:
		collect->megabytes = parse_number(state, "memory-limit", argument);
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
	       "was written; 3 not a Ruby process; 64 wrong usage; 124 given up at a limit of "
	       "time or memory.",
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
static void note(const struct collect *collect, const char *message)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/rcore.log", collect->folder);
	FILE *log = fopen(path, "ae");
	if (!log)
		return;
	fprintf(log, "%lld %s: ", (long long)time(NULL), collect->pid ? collect->pid : "core");
	rcore_escape_write(log, message);
	putc('\n', log);
	fclose(log);
}

static int run(size_t index, int fd, void *context)
{
	struct collect *collect = context;
	bool is_partial = false;
	struct rcore_error *err = collect_all(collect, &is_partial);
	if (!err)
		return is_partial;
	dprintf(fd, "%s", err->message);
	bool is_limit = err->code == RCORE_ERROR_NO_MEMORY;
	int status = rcore_cli_fail(err);
	return is_limit ? STATUS_LIMIT : status;
}

/* What the child could not say itself; NULL: it had nothing to say. */
static char *why(const struct collect *collect, const char *text, int status)
{
	char name[RCORE_SIGNAL_SIZE], *message = NULL;
	if (status == -SIGXCPU) {
		if (asprintf(&message, "given up after %u seconds (see --time-limit)",
			     collect->seconds) < 0)
			return NULL;
	} else if (status < 0) {
		if (asprintf(&message,
			     "rcore itself was ended by %s on this core: please report it",
			     rcore_signal_name(-status, name)) < 0)
			return NULL;
	} else if (text && text[0]) {
		message = strdup(text);
	}
	return message;
}

static void done(size_t index, char *text, int status, void *context)
{
	struct collect *collect = context;
	char *message = why(collect, text, status);
	if (message)
		note(collect, message);
	if (message && status < 0)
		fprintf(stderr, "rcore: %s\n", message);
	collect->status = status == -SIGXCPU ? STATUS_LIMIT : status < 0 ? 2 : status;
	free(message);
	free(text);
}

/* The kernel gives its handler a standard input alone: no file of ours may take the place of the others. */
static void open_standard_files(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDWR);
}

int rcore_cli_collect(int argc, char **argv)
{
	struct collect collect = {.folder = "/var/crash",
				  .target.options.redact = RCORE_REDACT_SECRETS,
				  .seconds = 120,
				  .megabytes = 2048};
	open_standard_files();
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
	const struct rcore_jobs jobs = {
		.count = 1,
		.seconds = collect.seconds,
		.megabytes = collect.megabytes,
		.run = run,
		.done = done,
		.context = &collect,
	};
	if (!err)
		err = rcore_jobs_run(&jobs);
	rcore_cli_target_deinit(&collect.target);
	return err ? rcore_cli_fail(err) : collect.status;
}
