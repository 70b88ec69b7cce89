/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/count.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "cli/collect_child.h"
#include "cli/collect_room.h"
#include "cli/collect_spool.h"
#include "cli/deployment.h"
#include "cli/jobs.h"
#include "cli/list.h"
#include "cli/target.h"
#include "report/formats.h"
#include "session/pack.h"
#include "target/core/core_store.h"
#include "target/live/live_files.h"
#include "target/output/output.h"

/*
 * The kernel starts this as its handler of cores (core(5), "Piping core dumps
 * to a program"), as root in the initial namespaces, without a terminal. The
 * process that died still exists until its core was read, so its files can be
 * found under /proc/PID/root.
 *
 * Whoever made the process crash has chosen each byte of the core. So the core
 * is first stored as it comes; then a child without any privilege reads it, and
 * writes to files that are already open. They get their names if it succeeds.
 */
struct arguments {
	const char *folder, *spool;
	struct rcore_cli_deployment deployment;
	int pid;
	size_t seconds, megabytes;
	struct rcore_room_limits limits;
	bool keep_core;
};

/* The files of a report, in the order of the child's descriptors. */
enum { TEXT, JSON, HTML, PACK, LINE, OUTPUTS };
static const char *const endings[OUTPUTS] = {".txt", ".json", ".html", ".core", ".jsonl"};
/* The folder of the spool to which an output goes, if there is a spool. */
static const struct {
	bool is_there;
	int folder;
} in_spool[OUTPUTS] = {[PACK] = {true, RCORE_SPOOL_PACKS}, [LINE] = {true, RCORE_SPOOL_LINES}};

struct collect {
	struct rcore_cli_target *target;
	const struct arguments *asked;
	char pid[16]; /* "core" if there is no argument */
	int folder;
	struct rcore_spool_folder spool;
	/* Not 0: there is a spool that cannot be used. */
	int spool_status;
	size_t output_count;        /* without a spool, there is no line */
	char name[64];              /* the start of the names of all files */
	char stored[PATH_MAX + 32]; /* the path of the compressed core */
	struct rcore_output outputs[OUTPUTS];
	int core; /* to be read by the child */
	int root; /* of the process that died, or -1 */
	bool looks_into_root;
	uid_t user;
	gid_t group;
	/* When the kernel began to pass the core, and this machine's name. */
	time_t begun;
	struct utsname machine;
	int kept; /* the stored core, locked while we need it; -1: none */
	/* The core was not read in full, so the stored copy is kept. */
	bool is_cut;
	uint64_t room; /* how large each of the outputs may get */
	int status;
};

enum { STATUS_LIMIT = 124, NOBODY = 65534 };

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"directory", 'd', RCORE_OPTION_TEXT, MEMBER(folder), "DIR",
	 "Write cores, reports and packs to DIR (/var/crash)",
	 .completion = RCORE_COMPLETE_FILE},
	{"spool", 0, RCORE_OPTION_TEXT, MEMBER(spool), "DIR",
	 "Write the pack to DIR/packs, and a line of rcore triage to DIR/lines, from "
	 "which another program may collect them (see docs/fleet.md)",
	 .completion = RCORE_COMPLETE_FILE},
	RCORE_OPTIONS_OF_DEPLOYMENT(MEMBER(deployment)),
	{"process", 0, RCORE_OPTION_PID, MEMBER(pid), "PID",
	 "The process that died, %P of core_pattern. rcore finds its files through "
	 "/proc/PID/root",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"keep-core", 0, RCORE_OPTION_FLAG, MEMBER(keep_core), NULL,
	 "Keep the whole core, compressed, even if its report and pack are complete",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"time-limit", 0, RCORE_OPTION_AMOUNT, MEMBER(seconds), "SECONDS",
	 "Give up after SECONDS (120)", .completion = RCORE_COMPLETE_NOTHING},
	{"memory-limit", 0, RCORE_OPTION_AMOUNT, MEMBER(megabytes), "MIB",
	 "Limit rcore's own memory (2048). The core itself is spooled to $TMPDIR or /var/tmp",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"max-use", 0, RCORE_OPTION_AMOUNT, MEMBER(limits.megabytes), "MIB",
	 "Delete the oldest files of DIR if they need more than MIB together (4096)",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"keep-free", 0, RCORE_OPTION_AMOUNT, MEMBER(limits.percent), "PERCENT",
	 "Keep PERCENT of the disk free (15)", .completion = RCORE_COMPLETE_NOTHING},
	{"max-age", 0, RCORE_OPTION_AMOUNT, MEMBER(limits.days), "DAYS",
	 "Delete files after DAYS (14)", .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

/* A new file, private, and nothing that was put there for us to write to. */
static int create(const struct collect *collect, const char *ending)
{
	char name[sizeof(collect->name) + 32];
	snprintf(name, sizeof(name), "%s%s", collect->name, ending);
	return rcore_output_create_at(collect->folder, name);
}

static bool is_free(const struct collect *collect, const char *ending)
{
	char name[sizeof(collect->name) + 32];
	struct stat status;
	snprintf(name, sizeof(name), "%s%s", collect->name, ending);
	return fstatat(collect->folder, name, &status, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

/* Whether no output has this name yet. */
static bool are_free(const struct collect *collect)
{
	for (size_t i = 0; i < OUTPUTS; i++)
		if (!is_free(collect, endings[i]))
			return false;
	return true;
}

/* Names stay different even if the clock does not move. */
static struct rcore_error *choose_name(struct collect *collect, const char *ending, int *ret)
{
	char when[32];
	time_t now = time(NULL);
	struct tm parts;
	gmtime_r(&now, &parts);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &parts);
	errno = EEXIST;
	for (int i = 0; i < 1000 && errno == EEXIST; i++) {
		snprintf(collect->name, sizeof(collect->name), "%s-%s-%d", when, collect->pid,
			 i);
		errno = EEXIST;
		if (!are_free(collect)) {
			errno = EEXIST;
			continue;
		}
		*ret = create(collect, ending);
		if (*ret < 0)
			continue;
		snprintf(collect->stored, sizeof(collect->stored), "%s/%s%s",
			 collect->asked->folder, collect->name, ending);
		return NULL;
	}
	return rcore_error_os(errno, "cannot create a file in %s", collect->asked->folder);
}

/* The kernel's handler has no terminal to write to. */
static void note(const struct collect *collect, const char *message)
{
	enum { LONGEST = 1000, LARGEST = 1 << 20 };
	char path[PATH_MAX], shown[LONGEST], *line = NULL;
	size_t size;
	snprintf(path, sizeof(path), "%s/rcore.log", collect->asked->folder);
	rcore_escape(shown, sizeof(shown), message);
	fprintf(stderr, "rcore: %s\n", shown);
	FILE *log = open_memstream(&line, &size);
	if (!log)
		return;
	fprintf(log, "%lld %s: %s\n", (long long)time(NULL), collect->pid, shown);
	if (!fclose(log))
		rcore_error_free(rcore_output_append(path, line, LARGEST));
	free(line);
}

/* Without its spool, everything is in the folder, and the stored core stays. */
static void open_spool(struct collect *collect)
{
	collect->output_count = LINE;
	if (!collect->asked->spool)
		return;
	struct rcore_error *err = rcore_spool_open(collect->asked->spool, &collect->spool);
	if (err) {
		note(collect, err->message);
		collect->spool_status = err->code == RCORE_ERROR_USAGE ? EX_USAGE : 2;
		rcore_error_free(err);
		return;
	}
	collect->output_count = OUTPUTS;
}

static uint64_t more_room(void *context)
{
	return rcore_room_more(context);
}

static const char *what_is_cut(const struct rcore_stored_core *stored)
{
	return stored->is_late
		       ? "the core did not end in time, so it is cut off; allow more with "
			 "--time-limit"
	       : stored->is_kept_cut
		       ? "the stored core is cut off: no room is left; allow more with "
			 "--max-use and --keep-free"
	       : stored->is_plain_cut
		       ? "only a part of the core could be read: $TMPDIR or /var/tmp is full"
		       : NULL;
}

static struct rcore_error *late(const struct collect *collect)
{
	return rcore_error_create(
		RCORE_ERROR_LIMIT,
		"not finished after %zu seconds; allow more with --time-limit",
		collect->asked->seconds);
}

/* Stores what comes through standard input. */
static struct rcore_error *store(struct collect *collect)
{
	char ending[32], path[64];
	struct rcore_stored_core stored = {0};
	struct rcore_room room = {.folder = collect->folder,
				  .limits = &collect->asked->limits,
				  .own = collect->name};
	struct rcore_core_store in = {
		.in = STDIN_FILENO,
		.kept = -1,
		.plain = rcore_temporary_open(),
		.seconds = (unsigned)collect->asked->seconds,
		.more = more_room,
		.context = &room,
	};
	struct rcore_error *err = in.plain < 0
					  ? rcore_error_os(errno,
							   "cannot write to %s; set TMPDIR to "
							   "another folder",
							   rcore_temporary_folder())
					  : NULL;
	snprintf(ending, sizeof(ending), ".full-core%s", rcore_core_store_ending());
	if (!err)
		err = choose_name(collect, ending, &in.kept);
	if (!err)
		rcore_room_lock(in.kept);
	if (!err)
		err = rcore_room_make(&room, &in.room);
	if (!err)
		err = rcore_core_store(&in, &stored);
	if (!err && !stored.size)
		err = late(collect);
	collect->is_cut = stored.is_late || stored.is_plain_cut;
	if (!err && what_is_cut(&stored))
		note(collect, what_is_cut(&stored));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", in.plain);
	if (!err && (collect->core = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		err = rcore_error_os(errno, "cannot open the core again");
	collect->kept = in.kept;
	if (in.plain >= 0)
		close(in.plain);
	if (err && in.kept >= 0 && !stored.size)
		unlink(collect->stored);
	return err;
}

static struct rcore_error *write_report(const struct rcore_snapshot *snapshot,
					const char *ending, int fd)
{
	const struct rcore_format *format;
	const char *same;
	char name[16];
	snprintf(name, sizeof(name), "r%s", ending);
	struct rcore_error *err = rcore_format_of_output(name, &format, &same);
	FILE *out = err ? NULL : fdopen(fd, "w");
	if (err)
		return err;
	if (!out)
		return rcore_error_os(errno, "cannot write the report");
	err = format->write(snapshot, NULL, out);
	if (fclose(out) && !err)
		err = rcore_error_os(errno, "cannot write the report");
	return err;
}

/*
 * What the environment of the process names takes precedence over uname(2). The
 * snapshot has been redacted, so this redacts what it adds.
 */
static void describe(const struct collect *collect, struct rcore_snapshot *snapshot)
{
	struct rcore_deployment *deployment = &snapshot->deployment;
	deployment->time = (uint64_t)collect->begun;
	deployment->time_source = "clock";
	rcore_cli_deployment_describe(&collect->asked->deployment, deployment);
	if (deployment->host || !collect->machine.nodename[0] ||
	    collect->target->options.redact == RCORE_REDACT_ALL)
		return;
	deployment->host = collect->machine.nodename;
	deployment->host_source = "machine";
}

/* Returns the name of a file, without its folder. */
static const char *name_of(const struct collect *collect, const char *ending, char name[96])
{
	snprintf(name, 96, "%s%s", collect->name, ending);
	return name;
}

static struct rcore_error *write_line(const struct collect *collect,
				      const struct rcore_snapshot *snapshot)
{
	struct rcore_arena arena = {0};
	struct rcore_result result;
	char name[96];
	struct rcore_error *err =
		/* The pack is in the folder next to that of the line. */
		rcore_result_make(name_of(collect, endings[PACK], name), snapshot->incomplete,
				  snapshot, NULL, &arena, &result);
	if (!err)
		err = rcore_spool_write_line(&result, RCORE_CHILD_FILES + LINE);
	rcore_arena_deinit(&arena);
	return err;
}

/* The folder of an output. */
static int folder_of(const struct collect *collect, size_t output)
{
	return collect->spool.path && in_spool[output].is_there
		       ? collect->spool.folders[in_spool[output].folder]
		       : collect->folder;
}

/*
 * Gives an output its name. From then on, neither the file nor its name is lost
 * if the machine stops.
 */
static struct rcore_error *keep(struct collect *collect, size_t output)
{
	struct rcore_output *out = &collect->outputs[output];
	if (collect->spool.path && in_spool[output].is_there)
		rcore_spool_share(&collect->spool, out->fd);
	struct rcore_error *err = rcore_collect_sync(out->fd);
	if (!err)
		err = rcore_output_keep(out);
	if (!err)
		err = rcore_collect_sync(folder_of(collect, output));
	return rcore_error_wrap(err, "%s%s", collect->name, endings[output]);
}

/* Writes the line of a core that was not read: why, and what else is known. */
static struct rcore_error *spool_failure(struct collect *collect, const char *message)
{
	/* The child that wrote it has read a hostile core. */
	enum { LONGEST = 1000 };
	char shown[LONGEST];
	struct rcore_snapshot snapshot = {.pid = collect->asked->pid,
					  .cause = {.thread = -1, .fiber = -1}};
	struct rcore_arena arena = {0};
	struct rcore_result result;
	describe(collect, &snapshot);
	if (message)
		rcore_escape(shown, sizeof(shown), message);
	struct rcore_error *err =
		rcore_result_make(rcore_base_name(collect->stored), collect->status, &snapshot,
				  message ? shown : NULL, &arena, &result);
	if (!err)
		err = rcore_spool_write_line(&result, collect->outputs[LINE].fd);
	if (!err)
		err = keep(collect, LINE);
	rcore_arena_deinit(&arena);
	return err;
}

/* Names the line last, so that whoever sees it finds its pack. */
static struct rcore_error *keep_all(struct collect *collect)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < collect->output_count && !err; i++)
		err = keep(collect, i);
	return err;
}

static struct rcore_error *read_core(const struct collect *collect, bool *ret_partial)
{
	const struct rcore_output pack =
		rcore_output_of_file(RCORE_CHILD_FILES + PACK, "the pack");
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	uint64_t size;
	struct rcore_error *err = rcore_open_core("-", &collect->target->options, &session);
	if (!err)
		err = rcore_load(session, &snapshot);
	if (!err)
		describe(collect, snapshot);
	for (int i = TEXT; i < PACK && !err; i++)
		err = write_report(snapshot, endings[i], RCORE_CHILD_FILES + i);
	if (!err)
		err = rcore_session_pack(session, snapshot, &pack, &size);
	if (!err && collect->spool.path)
		err = write_line(collect, snapshot);
	if (!err)
		*ret_partial = snapshot->incomplete;
	rcore_snapshot_free(snapshot);
	rcore_close(session);
	return err;
}

/* In the child. */
static int run(size_t index, int fd, void *context)
{
	struct collect *collect = context;
	int files[OUTPUTS];
	for (size_t i = 0; i < collect->output_count; i++)
		files[i] = collect->outputs[i].fd;
	const struct rcore_child child = {
		.core = collect->core,
		.message = fd,
		.files = files,
		.file_count = collect->output_count,
		.root = collect->root,
		.looks_into_root = collect->looks_into_root,
		.user = collect->user,
		.group = collect->group,
		.room = collect->room,
		.seconds = (unsigned)collect->asked->seconds,
	};
	bool is_partial = false;
	struct rcore_error *err = rcore_child_enter(&child);
	if (err)
		dprintf(fd, "%s", err->message);
	if (err)
		return 2;
	err = read_core(collect, &is_partial);
	if (!err)
		return is_partial;
	dprintf(RCORE_CHILD_MESSAGE, "%s", err->message);
	return err->code == RCORE_ERROR_NO_MEMORY ? STATUS_LIMIT : rcore_cli_fail(err);
}

/* Returns what the child could not report itself, or NULL. */
static char *why(const struct collect *collect, const char *text, int status)
{
	char name[RCORE_SIGNAL_SIZE], *message = NULL;
	if (status == -SIGXCPU) {
		struct rcore_error *err = late(collect);
		message = strdup(err->message);
		rcore_error_free(err);
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
	struct rcore_error *err = NULL;
	collect->status = status == -SIGXCPU ? STATUS_LIMIT : status < 0 ? 2 : status;
	if (status == 0 || status == 1)
		err = keep_all(collect);
	else if (collect->spool.path)
		err = spool_failure(collect, message);
	if (err) {
		free(message);
		message = strdup(err->message);
		collect->status = rcore_cli_fail(err);
	}
	if (!collect->status && !collect->spool_status && !collect->is_cut &&
	    !collect->asked->keep_core)
		unlink(collect->stored);
	if (message)
		note(collect, message);
	free(message);
	free(text);
}

/* At least 64 MiB: a small report is written even if space is short. */
static uint64_t room_of_outputs(const struct collect *collect)
{
	const uint64_t least = 64 << 20;
	const struct rcore_room room = {.folder = collect->folder,
					.limits = &collect->asked->limits,
					.own = collect->name};
	uint64_t left = 0;
	rcore_error_free(rcore_room_make(&room, &left));
	rcore_spool_make_room(&collect->spool, &collect->asked->limits, collect->name, &left);
	return left > least ? left : least;
}

static struct rcore_error *parse(struct collect *collect)
{
	char name[96];
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < collect->output_count && !err; i++)
		err = rcore_output_open_at(folder_of(collect, i),
					   name_of(collect, endings[i], name),
					   &collect->outputs[i]);
	const struct rcore_jobs jobs = {
		.count = 1,
		.seconds = (unsigned)collect->asked->seconds,
		.megabytes = collect->asked->megabytes,
		.run = run,
		.done = done,
		.context = collect,
	};
	collect->room = room_of_outputs(collect);
	/* For children from now on: there is nobody whom they can signal. */
	if (!err && !geteuid())
		(void)!unshare(CLONE_NEWPID);
	if (!err)
		err = rcore_jobs_run(&jobs);
	for (size_t i = 0; i < OUTPUTS; i++)
		rcore_output_close(&collect->outputs[i]);
	return err;
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

/*
 * The child is the user of the process, who can read its files, or nobody if
 * that is root. Both are of one folder of /proc: another process may get the
 * PID meanwhile, but not that folder. If the child also needs files outside the
 * root folder of the process, it looks into that through a descriptor.
 */
static void find_process(struct collect *collect, char root[64])
{
	struct rcore_cli_target *target = collect->target;
	struct rcore_live_status status;
	char path[64];
	if (!collect->asked->pid)
		return;
	snprintf(path, sizeof(path), "/proc/%d", collect->asked->pid);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0 && rcore_live_status_read(folder, "status", &status) && status.user) {
		collect->user = status.user;
		collect->group = status.group ? status.group : NOBODY;
	}
	if (!target->options.sysroot && folder >= 0)
		collect->root = openat(folder, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0)
		close(folder);
	/* Only root may call chroot(2). */
	collect->looks_into_root = geteuid() || target->options.layout_file ||
				   target->options.recognizer_file ||
				   target->options.search_path_count;
	if (collect->root < 0 || !collect->looks_into_root)
		return;
	snprintf(root, 64, "/proc/self/fd/%d", RCORE_CHILD_ROOT);
	target->options.sysroot = root;
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	const struct arguments *asked = given;
	struct collect collect = {.target = target,
				  .asked = asked,
				  .folder = -1,
				  .core = -1,
				  .root = -1,
				  .kept = -1,
				  .user = NOBODY,
				  .group = NOBODY,
				  .begun = time(NULL)};
	char root[64];
	if (uname(&collect.machine))
		collect.machine.nodename[0] = 0;
	for (size_t i = 0; i < OUTPUTS; i++)
		collect.outputs[i] = (struct rcore_output){.fd = -1, .through = -1};
	open_standard_files();
	if (asked->pid)
		snprintf(collect.pid, sizeof(collect.pid), "%d", asked->pid);
	else
		snprintf(collect.pid, sizeof(collect.pid), "core");
	target->options.record = true;
	umask(077);
	struct rcore_error *err = rcore_collect_folder_open(asked->folder, &collect.folder);
	if (err)
		return err;
	find_process(&collect, root);
	err = store(&collect);
	if (!err) {
		open_spool(&collect);
		err = parse(&collect);
	}
	if (err) {
		note(&collect, err->message);
		*ret_status = err->code == RCORE_ERROR_LIMIT ? STATUS_LIMIT : 2;
		rcore_error_free(err);
		return NULL;
	}
	*ret_status = collect.status > 1 || !collect.spool_status ? collect.status
								  : collect.spool_status;
	return NULL;
}

static const struct arguments defaults = {
	.folder = "/var/crash",
	.seconds = 120,
	.megabytes = 2048,
	.limits = {.megabytes = 4096, .percent = 15, .days = 14},
};

const struct rcore_command rcore_cli_collect = {
	.name = "collect",
	.topic = RCORE_TOPIC_CORES,
	.input = RCORE_INPUT_FILES,
	.summary = "turn a core from the kernel's pipe into a report and a pack",
	.doc = "Store the core from standard input, compressed (.full-core.zst). Then a child "
	       "process without privileges reads it and writes its report (.txt, .json, .html) "
	       "and a pack (.core). If all are complete, delete the stored core. Use it as the "
	       "kernel's core dump handler. If the process is not Ruby, or if rcore gives up, "
	       "keep the stored core and add a line to DIR/rcore.log. With --spool, the limits "
	       "of size and age also apply to each folder of the spool. If the spool cannot "
	       "be used, all files are in DIR, and the stored core stays.",
	.options = options,
	.size = sizeof(struct arguments),
	.defaults = &defaults,
	.redact = RCORE_REDACT_SECRETS,
	.shell_examples =
		(const char *const[]){"echo '|/usr/local/bin/rcore collect -d /var/crash "
				      "--process %P' > /proc/sys/kernel/core_pattern",
				      "rcore collect -d /var/crash --spool /var/spool/rcore < "
				      "core.1234",
				      "rcore collect -d reports < core.1234", NULL},
	.exit_status =
		"Exit status: 0 everything was decoded; 1 not everything was decoded "
		"(the rest is written); 2 no report was written, or there is no spool; 3 not a "
		"Ruby process; 64 wrong usage; 124 a limit of time or memory was exceeded.",
	.run_in_shell = run_in_shell,
};
