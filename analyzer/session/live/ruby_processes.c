/* SPDX-License-Identifier: MIT */
#include "session/live/ruby_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "session/session.h"
#include "target/live/live_tree.h"

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
	/* A longer title is cut to the size of the original command line. */
	if (line)
		rcore_utf8_trim(line);
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

/* If rcore may not read the maps of a process, only names are left. */
static bool is_called_ruby(int folder)
{
	struct rcore_live_status status;
	if (!rcore_live_status_read(folder, "status", &status))
		return false;
	char *command = command_of(folder);
	bool found = begins(status.name, "ruby") || (command && names_ruby(command));
	free(command);
	return found;
}

static bool may_run_ruby(int folder)
{
	char *maps = rcore_live_file(folder, "maps", NULL);
	bool found = maps ? maps_ruby(maps)
			  : (errno == EACCES || errno == EPERM) && is_called_ruby(folder);
	free(maps);
	return found;
}

static int open_process(int pid)
{
	int task;
	return rcore_live_folder_open(pid, &task);
}

bool rcore_process_may_run_ruby(int pid)
{
	int folder = open_process(pid);
	bool found = folder >= 0 && may_run_ruby(folder);
	if (folder >= 0)
		close(folder);
	return found;
}

char *rcore_process_title(int pid)
{
	int folder = open_process(pid);
	if (folder < 0)
		return NULL;
	char *title = command_of(folder);
	close(folder);
	return title;
}

struct state {
	int folder;
	char busiest;
};

/* The first one that runs decides. */
static bool compare_state(void *context, int tid)
{
	struct state *state = context;
	struct rcore_live_status status;
	char name[32];
	snprintf(name, sizeof(name), "task/%d/status", tid);
	if (rcore_live_status_read(state->folder, name, &status) &&
	    (status.state == 'R' || (status.state == 'D' && state->busiest == 'S')))
		state->busiest = status.state;
	return state->busiest != 'R';
}

char rcore_ruby_process_state(const struct rcore_ruby_process *process)
{
	struct state state = {open_process(process->pid), process->status.state};
	if (state.folder < 0)
		return state.busiest;
	if (state.busiest == 'S' || state.busiest == 'D')
		rcore_live_tasks(state.folder, compare_state, &state);
	close(state.folder);
	return state.busiest;
}

static struct rcore_error *identify(struct rcore_ruby_process *process)
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

/* Adds the process if it runs Ruby. Skips it if it has ended meanwhile. */
static struct rcore_error *look(struct rcore_ruby_processes *processes, int pid)
{
	struct rcore_ruby_process process = {.pid = pid};
	struct rcore_error *err = NULL;
	int folder = open_process(pid);
	if (folder < 0)
		return NULL;
	process.command = command_of(folder);
	bool is_ruby = rcore_live_status_read(folder, "status", &process.status) &&
		       may_run_ruby(folder);
	if (is_ruby)
		err = identify(&process);
	if (err && err->code != RCORE_ERROR_NO_MEMORY) {
		/*
		 * A program of that name that is not Ruby, or one that has
		 * ended.
		 */
		is_ruby = err->code != RCORE_ERROR_NOT_RUBY &&
			  !faccessat(folder, "exe", F_OK, AT_SYMLINK_NOFOLLOW);
		process.problem = is_ruby ? strdup(err->message) : NULL;
		rcore_error_free(err);
		err = is_ruby && !process.problem ? rcore_error_no_memory() : NULL;
	}
	if (is_ruby && !err) {
		struct rcore_ruby_process *added = rcore_push(processes);
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

struct rcore_error *rcore_ruby_processes_read(struct rcore_ruby_processes *processes)
{
	int *pids = NULL;
	size_t count = 0;
	struct rcore_error *err = rcore_process_list(&pids, &count);
	for (size_t i = 0; !err && i < count; i++)
		if (pids[i] != getpid())
			err = look(processes, pids[i]);
	free(pids);
	return err;
}

static void deinit_process(struct rcore_ruby_process *process)
{
	free(process->command);
	free(process->problem);
}

void rcore_ruby_processes_deinit(struct rcore_ruby_processes *processes)
{
	for (size_t i = 0; i < processes->count; i++)
		deinit_process(&processes->items[i]);
	free(processes->items);
	*processes = (struct rcore_ruby_processes){0};
}

static const char *title_of(const struct rcore_ruby_process *process)
{
	return process->command && process->command[0] ? process->command
						       : process->status.name;
}

/* "unicorn worker[2]" has a bracket, "puma*worker 2" is a pattern. */
bool rcore_ruby_process_matches(const struct rcore_ruby_process *process, const char *name)
{
	char pattern[256];
	if (strstr(title_of(process), name))
		return true;
	int length = snprintf(pattern, sizeof(pattern), "*%s*", name);
	return strpbrk(name, "*?[") && length < (int)sizeof(pattern) &&
	       !fnmatch(pattern, title_of(process), 0);
}

void rcore_ruby_processes_keep(struct rcore_ruby_processes *processes, const char *name)
{
	size_t kept = 0;
	for (size_t i = 0; i < processes->count; i++) {
		struct rcore_ruby_process *process = &processes->items[i];
		if (rcore_ruby_process_matches(process, name))
			processes->items[kept++] = *process;
		else
			deinit_process(process);
	}
	processes->count = kept;
}

static const struct rcore_ruby_process *find_pid(const struct rcore_ruby_processes *processes,
						 int pid)
{
	for (size_t i = 0; i < processes->count; i++)
		if (processes->items[i].pid == pid)
			return &processes->items[i];
	return NULL;
}

/* Processes that end while they are listed could form a cycle. */
static bool descends(const struct rcore_ruby_processes *processes,
		     const struct rcore_ruby_process *process, int ancestor)
{
	for (size_t i = 0; process && i <= processes->count; i++) {
		if (process->pid == ancestor)
			return true;
		process = find_pid(processes, process->status.parent);
	}
	return false;
}

/* Returns the match from which all others descend; 0: there is none. */
static int common_ancestor(const struct rcore_ruby_processes *processes, const char *name)
{
	for (size_t i = 0; i < processes->count; i++) {
		bool is_root = rcore_ruby_process_matches(&processes->items[i], name);
		for (size_t j = 0; is_root && j < processes->count; j++)
			is_root = !rcore_ruby_process_matches(&processes->items[j], name) ||
				  descends(processes, &processes->items[j],
					   processes->items[i].pid);
		if (is_root)
			return processes->items[i].pid;
	}
	return 0;
}

/*
 * The message lists as many matches as fit into it, and names `root`, from
 * which all of them descend; 0: there is none.
 */
static struct rcore_error *too_many(const struct rcore_ruby_processes *processes,
				    const char *name, size_t found, int root)
{
	enum { SHOWN = 4 };
	char list[SHOWN * 96] = "", tree[48] = "", escaped[64], title[48];
	size_t shown = 0, used = 0;
	for (size_t i = 0; i < processes->count && shown < SHOWN; i++) {
		const struct rcore_ruby_process *process = &processes->items[i];
		if (!rcore_ruby_process_matches(process, name))
			continue;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%d (%s)",
					 shown++ ? ", " : "", process->pid,
					 rcore_escape(title, sizeof(title), title_of(process)));
	}
	if (root)
		snprintf(tree, sizeof(tree), ", or all with -p %d --children", root);
	return rcore_error_create(RCORE_ERROR_USAGE,
				  "%zu Ruby processes have '%s' in their title: %s%s; name one "
				  "by its pid%s",
				  found, rcore_escape(escaped, sizeof(escaped), name), list,
				  found > shown ? " ..." : "", tree);
}

struct rcore_error *rcore_ruby_process_find(const char *name, bool has_descendants,
					    int *ret_pid)
{
	struct rcore_ruby_processes processes = {0};
	char escaped[64];
	size_t found = 0;
	struct rcore_error *err = rcore_ruby_processes_read(&processes);
	for (size_t i = 0; !err && i < processes.count; i++)
		if (rcore_ruby_process_matches(&processes.items[i], name) && !found++)
			*ret_pid = processes.items[i].pid;
	int root = found > 1 ? common_ancestor(&processes, name) : 0;
	if (!err && root && has_descendants)
		*ret_pid = root;
	else if (!err && found > 1)
		err = too_many(&processes, name, found, root);
	else if (!err && !found)
		err = rcore_error_create(
			RCORE_ERROR_USAGE,
			"no Ruby process has '%s' in its title; `rcore ps` lists them",
			rcore_escape(escaped, sizeof(escaped), name));
	rcore_ruby_processes_deinit(&processes);
	return err;
}
