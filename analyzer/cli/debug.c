/* SPDX-License-Identifier: MIT */
#include "cli/debug.h"

#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "cli/list.h"
#include "target/core/core.h"
#include "target/map_file.h"
#include "target/core/spool.h"
#include "target/live/live_files.h"

/*
 * A debugger: its names, the preferred one first, and how to pass it arguments.
 */
struct debugger {
	const char *const *programs;
	const char *package, *script;
	void (*add_arguments)(const struct rcore_debug *debug, struct rcore_argv *before,
			      struct rcore_argv *after);
};

static const struct debugger gdb = {
	.programs = (const char *const[]){"gdb", NULL},
	.package = "gdb",
	.script = "gdb/rcore-gdb.py",
	.add_arguments = rcore_debug_gdb,
};

static const struct debugger lldb = {
	.programs = (const char *const[]){"lldb", "lldb-22", "lldb-21", "lldb-20", "lldb-19",
					  "lldb-18", "lldb-17", "lldb-16", "lldb-15", "lldb-14",
					  NULL},
	.package = "lldb",
	.script = "lldb/rcore_lldb.py",
	.add_arguments = rcore_debug_lldb,
};

struct arguments {
	struct rcore_debug debug;
	int pid;
	struct rcore_strings search_paths, words, rest;
	const char *program; /* --debugger */
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"pid", 'p', RCORE_OPTION_PID, MEMBER(pid), "PID|NAME", "Attach to a running process",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"sysroot", 0, RCORE_OPTION_TEXT, MEMBER(debug.sysroot), "DIR",
	 "Read the target's files below DIR: the root of a container, or a copy of another "
	 "machine's files",
	 .completion = RCORE_COMPLETE_FILE, .is_folder = true},
	{"lib-search-path", 0, RCORE_OPTION_LIST, MEMBER(search_paths), "DIR",
	 "Also search DIR for the target's libraries. Can be repeated",
	 .completion = RCORE_COMPLETE_FILE, .is_folder = true},
	{"debugger", 0, RCORE_OPTION_TEXT, MEMBER(program), "PROGRAM",
	 "Start PROGRAM instead of the default debugger", .completion = RCORE_COMPLETE_FILE},
	{0},
};

/* Parses CORE [EXE], or -p PID [EXE]. */
static struct rcore_error *take_words(struct arguments *arguments, char pid[16])
{
	struct rcore_debug *debug = &arguments->debug;
	const struct rcore_strings *words = &arguments->words;
	size_t used = 0;
	char escaped[128];
	if (arguments->pid) {
		snprintf(pid, 16, "%d", arguments->pid);
		debug->pid = pid;
	} else if (words->count) {
		debug->core = words->items[used++];
	} else {
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"missing CORE; name a core file, or a running process with -p PID");
	}
	if (used < words->count)
		debug->executable = words->items[used++];
	if (used == words->count)
		return NULL;
	return rcore_error_create(
		RCORE_ERROR_USAGE,
		"unexpected argument '%s'; put arguments of the debugger after --",
		rcore_escape(escaped, sizeof(escaped), words->items[used]));
}

/* Finds the folder of the running program. */
static bool own_folder(char ret[PATH_MAX])
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	snprintf(ret, PATH_MAX, "%s", dirname(path));
	return true;
}

/*
 * The scripts are next to an installed program; a program in its build tree has
 * them elsewhere.
 */
static struct rcore_error *find_script(const char *name, char ret[PATH_MAX])
{
	static const char *const places[] = {"../share/rcore", "..", "../.."};
	char folder[PATH_MAX], path[PATH_MAX + 64];
	if (own_folder(folder)) {
		for (size_t i = 0; i < RCORE_COUNT(places); i++) {
			snprintf(path, sizeof(path), "%s/%s/%s", folder, places[i], name);
			if (realpath(path, ret))
				return NULL;
		}
	}
	return rcore_error_create(
		RCORE_ERROR_OS,
		"cannot find %s, which the debugger loads, in ../share/rcore next to this "
		"program; unpack rcore's archive, or run make install",
		name);
}

/* Prefers the library next to the program, because it was built with it. */
static void choose_library(void)
{
	char folder[PATH_MAX], path[PATH_MAX + 16];
	if (!own_folder(folder))
		return;
	snprintf(path, sizeof(path), "%s/librcore.so.0", folder);
	if (access(path, R_OK) == 0)
		setenv("RCORE_LIBRARY", path, 0);
}

/* Returns the program that the core names, if it exists here. */
static char *find_program(const struct rcore_core *core, const char *sysroot)
{
	const struct rcore_process *process = rcore_core_process(core);
	const struct rcore_mapping *mapping = NULL;
	uint64_t entry;
	char *path;
	if (rcore_process_auxv(process, AT_ENTRY, &entry))
		mapping = rcore_process_mapping(process, entry);
	if (!mapping || asprintf(&path, "%s%s", sysroot ? sysroot : "", mapping->path) < 0)
		return NULL;
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* Returns the program of a process, by a path that works from here. */
static char *find_running(const char *pid)
{
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/%.20s/exe", pid);
	ssize_t length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return NULL;
	path[length] = '\0';
	return strdup(access(path, R_OK) == 0 ? path : link);
}

/*
 * Returns the root folder of a process, as a path of this machine; NULL if it
 * sees the same files as rcore. Otherwise, a debugger would read files of this
 * machine that have the same names.
 */
static char *find_root(const char *pid)
{
	char folder[64], link[80], path[PATH_MAX];
	struct stat root, found;
	snprintf(folder, sizeof(folder), "/proc/%.20s", pid);
	snprintf(link, sizeof(link), "%s/root", folder);
	int process = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool is_own = process >= 0 && rcore_live_has_own_root(process);
	if (process >= 0)
		close(process);
	if (!is_own)
		return NULL;
	ssize_t length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	/* In another mount namespace, the path may lead elsewhere. */
	bool is_here = length > 1 && !stat(link, &root) && !stat(path, &found) &&
		       found.st_dev == root.st_dev && found.st_ino == root.st_ino;
	return strdup(is_here ? path : link);
}

/* rcore can read such cores; debuggers cannot. */
static struct rcore_error *check_plain(const char *path)
{
	struct rcore_mapped_file file;
	if (rcore_map_file(path, false, &file))
		return NULL;
	const char *compression = rcore_compression_of(file.bytes, file.size);
	rcore_unmap_file(&file);
	if (!compression)
		return NULL;
	return rcore_error_create(RCORE_ERROR_FORMAT,
				  "%s: is compressed with %s, which debuggers cannot read; "
				  "decompress it, or use rcore convert --fibers-as-threads",
				  path, compression);
}

/* The debugger may change its folder, so the path must be absolute. */
static const char *absolute(const char *path)
{
	char *found = path ? realpath(path, NULL) : NULL;
	return found ? found : path;
}

/* Reports a core that cannot be read before the debugger does. */
static struct rcore_error *look_at_target(struct rcore_debug *debug)
{
	struct rcore_core *core;
	debug->sysroot = absolute(debug->sysroot);
	if (!debug->core) {
		if (!debug->executable)
			debug->executable = find_running(debug->pid);
		if (!debug->sysroot)
			debug->sysroot = find_root(debug->pid);
		return NULL;
	}
	struct rcore_error *err = check_plain(debug->core);
	if (!err)
		err = rcore_core_open(debug->core, &core);
	if (err)
		return err;
	if (!debug->executable)
		debug->executable = find_program(core, debug->sysroot);
	rcore_core_close(core);
	return NULL;
}

static char *in_path(const char *program)
{
	const char *path = getenv("PATH");
	char *folders = strdup(path ? path : "/usr/local/bin:/usr/bin:/bin"), *rest = folders;
	char *folder, *found = NULL;
	while (!found && (folder = strsep(&rest, ":"))) {
		if (asprintf(&found, "%s/%s", folder[0] ? folder : ".", program) < 0)
			errx(2, "out of memory");
		if (access(found, X_OK)) {
			free(found);
			found = NULL;
		}
	}
	free(folders);
	return found;
}

static char *find_debugger(const struct debugger *debugger, const char *wanted)
{
	const char *const only[] = {wanted, NULL};
	const char *const *programs = wanted ? only : debugger->programs;
	char *found = NULL;
	for (; *programs && !found; programs++)
		found = strchr(*programs, '/') ? strdup(*programs) : in_path(*programs);
	return found;
}

/*
 * Debian's LLDB 14 does not find its own Python modules, which are next to the
 * program.
 */
static void set_python_path(const char *program)
{
	char path[PATH_MAX], pattern[PATH_MAX + 64];
	glob_t found;
	if (!realpath(program, path))
		return;
	snprintf(pattern, sizeof(pattern), "%s/../lib/python3.*/*-packages/lldb",
		 dirname(path));
	if (glob(pattern, 0, NULL, &found) == 0) {
		const char *before = getenv("PYTHONPATH");
		char *value;
		if (asprintf(&value, "%s%s%s", dirname(found.gl_pathv[0]), before ? ":" : "",
			     before ? before : "") >= 0)
			setenv("PYTHONPATH", value, 1);
	}
	globfree(&found);
}

static struct rcore_error *start(const struct debugger *debugger, struct arguments *arguments)
{
	char script[PATH_MAX];
	struct rcore_argv words = {0}, after = {0};
	char *program = find_debugger(debugger, arguments->program);
	if (!program)
		return rcore_error_create(RCORE_ERROR_OS,
					  "%s is not installed; run apt-get install %s, or "
					  "name another one with --debugger",
					  arguments->program ? arguments->program
							     : debugger->programs[0],
					  debugger->package);
	struct rcore_error *err = find_script(debugger->script, script);
	if (!err)
		err = look_at_target(&arguments->debug);
	if (err)
		return err;
	arguments->debug.script = script;
	arguments->debug.search_paths = arguments->search_paths.items;
	arguments->debug.search_path_count = arguments->search_paths.count;
	rcore_argv_add(&words, "%s", program);
	debugger->add_arguments(&arguments->debug, &words, &after);
	for (size_t i = 0; i < arguments->rest.count; i++)
		rcore_argv_add(&words, "%s", arguments->rest.items[i]);
	for (size_t i = 0; i < after.count; i++)
		rcore_argv_add(&words, "%s", after.items[i]);
	if (!rcore_push(&words))
		return rcore_error_no_memory();
	choose_library();
	/* The debugger and the programs that it starts expect the default. */
	signal(SIGPIPE, SIG_DFL);
	if (debugger == &lldb)
		set_python_path(program);
	execv(program, words.items);
	return rcore_error_os(errno, "%s", program);
}

static struct rcore_error *debug(const struct debugger *debugger, struct arguments *arguments)
{
	char pid[16];
	struct rcore_error *err = take_words(arguments, pid);
	return err ? err : start(debugger, arguments);
}

static struct rcore_error *run_gdb(struct rcore_cli_target *target, void *arguments,
				   int *ret_status)
{
	return debug(&gdb, arguments);
}

static struct rcore_error *run_lldb(struct rcore_cli_target *target, void *arguments,
				    int *ret_status)
{
	return debug(&lldb, arguments);
}

#define COMMAND(debugger_name, ...)                                                            \
	{                                                                                      \
		.name = debugger_name, .topic = RCORE_TOPIC_DEBUGGER,                          \
		.input = RCORE_INPUT_NONE,                                                     \
		.summary = "start " debugger_name " with rcore's commands",                    \
		.doc = "Start " debugger_name " on a core or a running process, with rcore's " \
		       "commands: ruby-fibers and others, which `help ruby` lists. Add EXE, "  \
		       "the program, if rcore does not find it.",                              \
		.options = options, .size = sizeof(struct arguments),                          \
		.words = "CORE|-p PID [EXE]", .operands_offset = MEMBER(words),                \
		.rest = "ARGUMENT...", .rest_offset = MEMBER(rest),                            \
		.completion = RCORE_COMPLETE_FILE,                                             \
		.exit_status =                                                                 \
			"Exit status: that of the debugger; 2 it could not be started; "       \
			"64 wrong usage.",                                                     \
		__VA_ARGS__                                                                    \
	}

const struct rcore_command rcore_cli_gdb =
	COMMAND("gdb", .run_in_shell = run_gdb,
		.shell_examples = (const char *const[]){
			"rcore gdb core.1234", "rcore gdb -p 1234",
			"rcore gdb --sysroot /srv/container core.1234",
			"rcore gdb core.1234 -- -batch -ex ruby-fibers", NULL});

const struct rcore_command rcore_cli_lldb =
	COMMAND("lldb", .run_in_shell = run_lldb,
		.shell_examples = (const char *const[]){
			"rcore lldb core.1234", "rcore lldb -p 1234",
			"rcore lldb --sysroot /srv/container core.1234",
			"rcore lldb --debugger lldb-14 core.1234",
			"rcore lldb core.1234 -- --batch -o ruby-fibers", NULL});
