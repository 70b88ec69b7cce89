/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "cli/list.h"
#include "cli/target.h"
#include "report/json/json.h"
#include "session/identify.h"
#include "session/session.h"
#include "target/live/live_files.h"
#include "target/live/live_tree.h"

/*
 * `rcore ps`: which processes run Ruby, so that nobody has to guess from titles
 * such as "puma: cluster worker 0". A process counts if it has mapped a
 * libruby, or if its program is called ruby; of others, files would have to be
 * searched for symbols.
 */

struct arguments {
	bool json;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "The same as JSON"},
	{0},
};

struct process {
	int pid;
	struct rcore_live_status status;
	char *command;              /* title or command line; NULL: unknown */
	char *problem;              /* why it cannot be read; NULL: it can */
	struct rcore_identity ruby; /* version_text[0] is 0: unknown */
};

struct processes {
	struct process *items;
	size_t count, capacity;
};

static void deinit(struct processes *processes)
{
	for (size_t i = 0; i < processes->count; i++) {
		free(processes->items[i].command);
		free(processes->items[i].problem);
	}
	free(processes->items);
}

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static bool maps_ruby(const char *maps)
{
	static const char *const names[] = {"/libruby", "/ruby"};
	for (size_t i = 0; i < RCORE_COUNT(names); i++)
		for (const char *at = maps; (at = strstr(at, names[i])); at++) {
			const char *end = at + 1 + strcspn(at + 1, "/\n");
			bool is_program = names[i][1] == 'r' && *end == '\n' && end - at < 16;
			if (is_program || (names[i][1] == 'l' && *end == '\n'))
				return true;
		}
	return false;
}

/*
 * Arguments are separated by NULs, and a title that a program set ends with
 * many.
 */
static char *command_of(int folder)
{
	size_t size = 0;
	char *line = rcore_live_file(folder, "cmdline", &size);
	while (line && size && !line[size - 1])
		size--;
	for (size_t i = 0; line && i < size; i++)
		if (!line[i])
			line[i] = ' ';
	return line;
}

/* "/usr/bin/ruby3.1 app.rb" */
static bool names_ruby(const char *command)
{
	const char *end = command + strcspn(command, " ");
	const char *at = end;
	while (at > command && at[-1] != '/')
		at--;
	return begins(at, "ruby");
}

/* Of maps that we may not read only names are left. */
static bool may_run_ruby(int folder, const struct process *process)
{
	char *maps = rcore_live_file(folder, "maps", NULL);
	bool found = maps ? maps_ruby(maps)
			  : (errno == EACCES || errno == EPERM) &&
				     (begins(process->status.name, "ruby") ||
				      (process->command && names_ruby(process->command)));
	free(maps);
	return found;
}

static struct rcore_error *identify(struct process *process)
{
	const struct rcore_options open = {
		.size = sizeof(open), .no_stop = true, .no_native = true};
	struct rcore_session *session;
	struct rcore_error *err = rcore_open_pid(process->pid, &open, &session);
	if (err)
		return err;
	err = rcore_session_identify(&session->target, &process->ruby);
	rcore_close(session);
	return err;
}

/* Adds the process if it runs Ruby. What has ended meanwhile is left out. */
static struct rcore_error *look(struct processes *processes, int pid)
{
	char path[32];
	struct process process = {.pid = pid};
	struct rcore_error *err = NULL;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return NULL;
	process.command = command_of(folder);
	bool is_ruby = rcore_live_status_read(folder, "status", &process.status) &&
		       may_run_ruby(folder, &process);
	if (is_ruby)
		err = identify(&process);
	if (err && err->code != RCORE_ERROR_NO_MEMORY) {
		/*
		 * A program of that name that is no Ruby, or one that has
		 * ended.
		 */
		is_ruby = err->code != RCORE_ERROR_NOT_RUBY &&
			  !faccessat(folder, "exe", F_OK, AT_SYMLINK_NOFOLLOW);
		process.problem = is_ruby ? strdup(err->message) : NULL;
		rcore_error_free(err);
		err = is_ruby && !process.problem ? rcore_error_no_memory() : NULL;
	}
	if (is_ruby && !err) {
		struct process *added = rcore_push(processes);
		if (added)
			*added = process;
		else
			err = rcore_error_no_memory();
	}
	close(folder);
	if (err || !is_ruby) {
		free(process.command);
		free(process.problem);
	}
	return err;
}

static const char *state_of(const struct process *process)
{
	static const struct {
		char letter;
		const char *name;
	} states[] = {
		{'R', "running"}, {'S', "sleeping"}, {'D', "blocked"},
		{'T', "stopped"}, {'t', "traced"},   {'Z', "zombie"},
	};
	for (size_t i = 0; i < RCORE_COUNT(states); i++)
		if (states[i].letter == process->status.state)
			return states[i].name;
	return "unknown";
}

static void print_text(const struct processes *processes)
{
	int width = 4;
	for (size_t i = 0; i < processes->count; i++) {
		int length = (int)strlen(processes->items[i].ruby.version_text);
		width = length > width ? length : width;
	}
	printf("%7s  %-*s  %-8s  %7s  %s\n", "PID", width, "RUBY", "STATE", "THREADS",
	       "COMMAND");
	for (size_t i = 0; i < processes->count; i++) {
		const struct process *process = &processes->items[i];
		const char *version = process->ruby.version_text;
		printf("%7d  %-*s  %-8s  %7d  ", process->pid, width,
		       version[0] ? version : "?", state_of(process),
		       process->status.thread_count);
		rcore_escape_write(stdout, process->command && process->command[0]
						   ? process->command
						   : process->status.name);
		putchar('\n');
		if (!process->problem)
			continue;
		fputs("         ! ", stdout);
		rcore_escape_write(stdout, process->problem);
		putchar('\n');
	}
}

static struct rcore_error *print_json(const struct processes *processes)
{
	struct rcore_json json = {.out = stdout};
	rcore_json_open(&json, NULL, '{');
	rcore_json_put(&json, "schema", rcore_json_string(&json, "rcore-ps/1"));
	rcore_json_open(&json, "processes", '[');
	for (size_t i = 0; i < processes->count; i++) {
		const struct process *process = &processes->items[i];
		const char *version = process->ruby.version_text;
		struct json_object *object = rcore_json_object(&json);
		rcore_json_add_int(&json, object, "pid", process->pid);
		rcore_json_add_int(&json, object, "parent", process->status.parent);
		rcore_json_add_text(&json, object, "ruby", version[0] ? version : NULL);
		rcore_json_add_text(&json, object, "state", state_of(process));
		rcore_json_add_int(&json, object, "threads", process->status.thread_count);
		rcore_json_add_text(&json, object, "command", process->command);
		rcore_json_add_text(&json, object, "problem", process->problem);
		rcore_json_put(&json, NULL, object);
	}
	rcore_json_close(&json, ']');
	rcore_json_close(&json, '}');
	putchar('\n');
	return json.no_memory ? rcore_error_no_memory() : NULL;
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	const struct arguments *arguments = given;
	struct processes processes = {0};
	int *pids = NULL;
	size_t count = 0;
	struct rcore_error *err = rcore_process_list(&pids, &count);
	for (size_t i = 0; !err && i < count; i++)
		if (pids[i] != getpid())
			err = look(&processes, pids[i]);
	if (!err && arguments->json)
		err = print_json(&processes);
	else if (!err && processes.count)
		print_text(&processes);
	if (!err && !processes.count) {
		fputs("rcore: no process runs Ruby here\n", stderr);
		*ret_status = 3;
	}
	for (size_t i = 0; i < processes.count; i++)
		if (processes.items[i].problem)
			*ret_status = 1;
	if (!err && (fflush(stdout) == EOF || ferror(stdout)))
		err = rcore_error_os(errno, "cannot write the list");
	deinit(&processes);
	free(pids);
	return err;
}

const struct rcore_command rcore_cli_ps = {
	.name = "ps",
	.topic = RCORE_TOPIC_LOOK,
	.input = RCORE_INPUT_NONE,
	.summary = "list the processes that run Ruby",
	.doc = "List the processes that run Ruby: their id, the release, what the kernel says "
	       "of the main thread, how many kernel threads they have, and their title. A "
	       "process that cannot be read is listed with the reason.",
	.options = options,
	.size = sizeof(struct arguments),
	.shell_examples =
		(const char *const[]){"rcore ps", "rcore ps --json | jq '.processes[].pid'",
				      NULL},
	.exit_status = "Exit status: 0 complete; 1 a process could not be read; 2 the list "
		       "could not be made or written; 3 no process runs Ruby; 64 wrong usage.",
	.run_in_shell = run_in_shell,
};
