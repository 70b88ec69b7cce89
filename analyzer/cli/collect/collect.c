/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/collect/collect.h"
#include "cli/collect/collect_child.h"
#include "cli/list.h"
#include "target/live/live_files.h"

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
enum { NOBODY = 65534 };

#define MEMBER(name) offsetof(struct rcore_collect_arguments, name)

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
	{"time-limit", 0, RCORE_OPTION_TIME, MEMBER(seconds), "TIME",
	 "Give up after TIME: seconds, or 90s, 5m or 1h (120)",
	 .completion = RCORE_COMPLETE_NOTHING},
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
static void find_process(struct rcore_collect *collect, char root[64])
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
	collect->looks_into_root =
		geteuid() || target->options.layout_file || target->options.search_path_count;
	if (collect->root < 0 || !collect->looks_into_root)
		return;
	snprintf(root, 64, "/proc/self/fd/%d", RCORE_CHILD_ROOT);
	target->options.sysroot = root;
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	const struct rcore_collect_arguments *asked = given;
	struct rcore_collect collect = {.target = target,
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
	for (size_t i = 0; i < RCORE_COLLECT_OUTPUTS; i++)
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
	err = rcore_collect_store(&collect);
	if (!err) {
		rcore_collect_open_spool(&collect);
		err = rcore_collect_parse(&collect);
	}
	if (collect.has_no_core)
		unlink(collect.stored);
	if (err) {
		rcore_collect_note(&collect, err->message);
		*ret_status = err->code == RCORE_ERROR_LIMIT ? RCORE_COLLECT_LIMIT : 2;
		rcore_error_free(err);
		return NULL;
	}
	*ret_status = collect.status > 1 || !collect.spool_status ? collect.status
								  : collect.spool_status;
	return NULL;
}

static const struct rcore_collect_arguments defaults = {
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
	       "kernel's core dump handler. If the process is not Ruby, if rcore gives up, or "
	       "if the disk is full, keep the stored core and add a line to DIR/rcore.log. "
	       "With --spool, the limits of size and age also apply to each folder of the "
	       "spool. If the spool cannot be used, all files are in DIR, and the stored core "
	       "stays.",
	.options = options,
	.size = sizeof(struct rcore_collect_arguments),
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
		"(the rest is written); 2 nothing was decoded, the pack or a report could "
		"not be written, or the spool cannot be used; 3 not a Ruby process; 64 wrong "
		"usage; 124 a limit of time or memory was exceeded (what was found with too "
		"little memory is written).",
	.run_in_shell = run_in_shell,
};
