/* SPDX-License-Identifier: MIT */
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
#include "cli/jobs.h"
#include "cli/list.h"
#include "cli/target.h"
#include "report/formats.h"
#include "target/output/output.h"

/*
 * The kernel starts this as its handler of cores (core(5), "Piping core dumps
 * to a program"), as root in the initial namespaces, without a terminal. The
 * process that died still exists until its core was read, so its files can be
 * found under /proc/PID/root.
 */
struct arguments {
	const char *folder;
	int pid;
	size_t seconds, megabytes;
};

struct collect {
	struct rcore_cli_target *target;
	const struct arguments *asked;
	const char *folder;
	char pid[16]; /* "core" if there is no argument */
	/* the path of all output files, without their suffixes */
	char stem[PATH_MAX];
	int status;
};

enum { STATUS_LIMIT = 124 };

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"directory", 'd', RCORE_OPTION_TEXT, MEMBER(folder), "DIR",
	 "Write reports and packs to DIR (/var/crash)", .completion = RCORE_COMPLETE_FILE},
	{"process", 0, RCORE_OPTION_PID, MEMBER(pid), "PID",
	 "The process that died, %P of core_pattern. rcore finds its files through "
	 "/proc/PID/root",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"time-limit", 0, RCORE_OPTION_AMOUNT, MEMBER(seconds), "SECONDS",
	 "Give up after SECONDS (120)", .completion = RCORE_COMPLETE_NOTHING},
	{"memory-limit", 0, RCORE_OPTION_AMOUNT, MEMBER(megabytes), "MIB",
	 "Limit rcore's own memory (2048). The core itself is spooled to $TMPDIR or /var/tmp",
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static bool is_free(const char *stem, const char *ending)
{
	char path[PATH_MAX + 8];
	struct stat status;
	snprintf(path, sizeof(path), "%s%s", stem, ending);
	return lstat(path, &status) && errno == ENOENT;
}

/* Names stay different even if the clock does not move. */
static struct rcore_error *choose_stem(struct collect *collect)
{
	char when[32];
	time_t now = time(NULL);
	struct tm parts;
	gmtime_r(&now, &parts);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &parts);
	for (int i = 0; i < 1000; i++) {
		int length = snprintf(collect->stem, sizeof(collect->stem), "%s/%s-%s-%d",
				      collect->folder, when, collect->pid, i);
		if (length < (int)sizeof(collect->stem) && is_free(collect->stem, ".txt") &&
		    is_free(collect->stem, ".json") && is_free(collect->stem, ".core"))
			return NULL;
	}
	return rcore_error_create(RCORE_ERROR_OS, "%s: cannot find a free name for a report",
				  collect->folder);
}

struct report {
	const struct rcore_format *format;
	const struct rcore_snapshot *snapshot;
};

static struct rcore_error *write_format(FILE *out, const void *context)
{
	const struct report *report = context;
	return report->format->write(report->snapshot, NULL, out);
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
	const struct report report = {format, snapshot};
	return rcore_output_write(path, RCORE_OUTPUT_NEW, NULL, write_format, &report);
}

static struct rcore_error *collect_all(struct collect *collect, bool *ret_partial)
{
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	char path[PATH_MAX + 8];
	uint64_t size;
	struct rcore_error *err = rcore_open_core("-", &collect->target->options, &session);
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

/* The kernel's handler has no terminal to write to. */
static void note(const struct collect *collect, const char *message)
{
	char path[PATH_MAX], *line = NULL;
	size_t size;
	snprintf(path, sizeof(path), "%s/rcore.log", collect->folder);
	FILE *log = open_memstream(&line, &size);
	if (!log)
		return;
	fprintf(log, "%lld %s: ", (long long)time(NULL), collect->pid);
	rcore_escape_write(log, message);
	putc('\n', log);
	if (!fclose(log))
		rcore_error_free(rcore_output_append(path, line));
	free(line);
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

/* Returns what the child could not report itself, or NULL. */
static char *why(const struct collect *collect, const char *text, int status)
{
	char name[RCORE_SIGNAL_SIZE], *message = NULL;
	if (status == -SIGXCPU) {
		if (asprintf(&message,
			     "not finished after %zu seconds; allow more with --time-limit",
			     collect->asked->seconds) < 0)
			return NULL;
	} else if (status < 0) {
		if (asprintf(&message,
			     "%s ended rcore while it read this core; please report this bug",
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

/*
 * The kernel only gives its handler a standard input. Opens the others, so that
 * no file of ours gets their numbers.
 */
static void open_standard_files(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDWR);
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	const struct arguments *asked = given;
	struct collect collect = {.target = target, .asked = asked, .folder = asked->folder};
	char root[64];
	open_standard_files();
	if (asked->pid)
		snprintf(collect.pid, sizeof(collect.pid), "%d", asked->pid);
	else
		snprintf(collect.pid, sizeof(collect.pid), "core");
	snprintf(root, sizeof(root), "/proc/%d/root", asked->pid);
	if (asked->pid && !target->options.sysroot)
		target->options.sysroot = root;
	target->options.record = true;
	umask(077);
	if (mkdir(collect.folder, 0700) && errno != EEXIST)
		return rcore_error_os(errno, "cannot create the folder %s", collect.folder);
	const struct rcore_jobs jobs = {
		.count = 1,
		.seconds = (unsigned)asked->seconds,
		.megabytes = asked->megabytes,
		.run = run,
		.done = done,
		.context = &collect,
	};
	struct rcore_error *err = rcore_jobs_run(&jobs);
	*ret_status = collect.status;
	return err;
}

static const struct arguments defaults = {
	.folder = "/var/crash", .seconds = 120, .megabytes = 2048};

const struct rcore_command rcore_cli_collect = {
	.name = "collect",
	.topic = RCORE_TOPIC_CORES,
	.input = RCORE_INPUT_FILES,
	.summary = "turn a core from the kernel's pipe into a report and a pack",
	.doc = "Read a core from standard input, write its report (.txt, .json) and a pack "
	       "(.core), and discard the core. Use it as the kernel's core dump handler. If "
	       "the process is not Ruby, or if rcore gives up, add a line to DIR/rcore.log.",
	.options = options,
	.size = sizeof(struct arguments),
	.defaults = &defaults,
	.redact = RCORE_REDACT_SECRETS,
	.shell_examples =
		(const char *const[]){"echo '|/usr/local/bin/rcore collect -d /var/crash "
				      "--process %P' > /proc/sys/kernel/core_pattern",
				      "rcore collect -d reports < core.1234", NULL},
	.exit_status = "Exit status: 0 everything was decoded; 1 not everything was decoded "
		       "(the rest is written); 2 nothing was written; 3 not a Ruby process; 64 "
		       "wrong usage; 124 a limit of time or memory was exceeded.",
	.run_in_shell = run_in_shell,
};
