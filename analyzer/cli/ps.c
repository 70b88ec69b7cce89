/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "cli/list.h"
#include "cli/screen.h"
#include "cli/target.h"
#include "report/json/json.h"
#include "session/live/ruby_processes.h"

/*
 * `rcore ps` lists the processes that run Ruby, so that nobody has to guess
 * from titles such as "puma: cluster worker 0". A process is listed if it has
 * mapped a libruby, or if its program is called ruby. To recognize any other
 * program, rcore would have to search its files for symbols.
 */

struct arguments {
	bool json;
	struct rcore_strings names; /* one at most */
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{0},
};

static const char *state_of(const struct rcore_ruby_process *process)
{
	static const struct {
		char letter;
		const char *name;
	} states[] = {
		{'R', "running"}, {'S', "sleeping"}, {'D', "blocked"},
		{'T', "stopped"}, {'t', "traced"},   {'Z', "zombie"},
	};
	const char state = rcore_ruby_process_state(process);
	for (size_t i = 0; i < RCORE_COUNT(states); i++)
		if (states[i].letter == state)
			return states[i].name;
	return "unknown";
}

static void print_text(const struct rcore_ruby_processes *processes, FILE *out)
{
	int width = 4;
	for (size_t i = 0; i < processes->count; i++) {
		int length = (int)strlen(processes->items[i].ruby.version_text);
		width = length > width ? length : width;
	}
	fprintf(out, "%7s  %-*s  %-8s  %7s  %s\n", "PID", width, "RUBY", "STATE", "THREADS",
		"COMMAND");
	for (size_t i = 0; i < processes->count; i++) {
		const struct rcore_ruby_process *process = &processes->items[i];
		const char *version = process->ruby.version_text;
		fprintf(out, "%7d  %-*s  %-8s  %7d  ", process->pid, width,
			version[0] ? version : "?", state_of(process),
			process->status.thread_count);
		rcore_escape_write(out, process->command && process->command[0]
						? process->command
						: process->status.name);
		putc('\n', out);
		if (!process->problem)
			continue;
		fputs("         ! ", out);
		rcore_escape_write(out, process->problem);
		putc('\n', out);
	}
}

static struct rcore_error *print_json(const struct rcore_ruby_processes *processes)
{
	struct rcore_json json = {.out = stdout};
	rcore_json_open(&json, NULL, '{');
	rcore_json_put(&json, "schema", rcore_json_string(&json, "rcore-ps/1"));
	rcore_json_open(&json, "processes", '[');
	for (size_t i = 0; i < processes->count; i++) {
		const struct rcore_ruby_process *process = &processes->items[i];
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

static struct rcore_error *show(const struct rcore_ruby_processes *processes)
{
	/* Folding lines would break the columns. */
	static const struct rcore_screen_style style = {.is_text = false};
	struct rcore_screen screen;
	rcore_screen_begin(&screen);
	print_text(processes, screen.out);
	return rcore_screen_end(&screen, &style);
}

static struct rcore_error *check(const struct arguments *arguments)
{
	char escaped[128];
	if (arguments->names.count < 2)
		return NULL;
	return rcore_error_create(
		RCORE_ERROR_USAGE, "unexpected argument '%s'",
		rcore_escape(escaped, sizeof(escaped), arguments->names.items[1]));
}

static void report_none(const char *name)
{
	char escaped[128];
	if (name)
		fprintf(stderr, "rcore: no Ruby process has '%s' in its title\n",
			rcore_escape(escaped, sizeof(escaped), name));
	else
		fputs("rcore: no process runs Ruby here\n", stderr);
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	const struct arguments *arguments = given;
	const char *name = arguments->names.count ? arguments->names.items[0] : NULL;
	struct rcore_ruby_processes processes = {0};
	struct rcore_error *err = check(arguments);
	if (!err)
		err = rcore_ruby_processes_read(&processes);
	if (!err && name)
		rcore_ruby_processes_keep(&processes, name);
	if (!err && arguments->json)
		err = print_json(&processes);
	else if (!err && processes.count)
		err = show(&processes);
	if (!err && !processes.count) {
		report_none(name);
		*ret_status = 3;
	}
	for (size_t i = 0; i < processes.count; i++)
		if (processes.items[i].problem)
			*ret_status = 1;
	if (!err && (fflush(stdout) == EOF || ferror(stdout)))
		err = rcore_error_os(errno, "cannot write the list");
	rcore_ruby_processes_deinit(&processes);
	return err;
}

const struct rcore_command rcore_cli_ps = {
	.name = "ps",
	.topic = RCORE_TOPIC_LOOK,
	.input = RCORE_INPUT_NONE,
	.summary = "list the processes that run Ruby",
	.doc = "List the processes that run Ruby: the pid, the release, the state, the number "
	       "of kernel threads, and the title of each. The state is that of the busiest "
	       "thread: running, if any of them is. A process that cannot be read is listed "
	       "with the reason. NAME, as for -p, lists only those whose title contains it, or "
	       "matches it as a pattern, such as 'puma*worker'.",
	.options = options,
	.size = sizeof(struct arguments),
	.words = "[NAME]",
	.operands_offset = MEMBER(names),
	.shell_examples =
		(const char *const[]){"rcore ps", "rcore ps puma",
				      "rcore ps --json | jq '.processes[].pid'", NULL},
	.exit_status = "Exit status: 0 complete; 1 a process could not be read; 2 the list "
		       "could not be created or written; 3 none was found; 64 wrong usage.",
	.run_in_shell = run_in_shell,
};
