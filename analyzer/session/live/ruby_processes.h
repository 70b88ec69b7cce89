/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_RUBY_PROCESSES_H
#define RCORE_SESSION_RUBY_PROCESSES_H

#include "session/layout/identify.h"
#include "target/live/live_files.h"

/*
 * The processes of this machine that run Ruby. A process counts if it has
 * mapped a libruby, or if its program is called ruby. Finding others
 * would require a search for symbols in their files.
 */
struct rcore_ruby_process {
	int pid;
	struct rcore_live_status status;
	char *command;              /* title or command line; NULL: unknown */
	char *problem;              /* why it cannot be read; NULL: it can */
	struct rcore_identity ruby; /* version_text[0] is 0: unknown */
};

struct rcore_ruby_processes {
	struct rcore_ruby_process *items;
	size_t count, capacity;
};

/*
 * Adds all of them except this process itself. The caller frees the list with
 * rcore_ruby_processes_deinit(), also after an error. Errors: OS (/proc cannot
 * be read), NO_MEMORY.
 */
struct rcore_error *rcore_ruby_processes_read(struct rcore_ruby_processes *processes);

/*
 * Returns whether a process looks like Ruby, by its maps or its name.
 */
bool rcore_process_may_run_ruby(int pid);

/*
 * Returns the title or command line of a process, malloc'ed; NULL if it has
 * ended, has none, or memory is short.
 */
char *rcore_process_title(int pid);

/*
 * Returns the state of the thread that does the most, as
 * rcore_live_status.state has it; that of the main thread if others cannot be
 * read.
 */
char rcore_ruby_process_state(const struct rcore_ruby_process *process);

/*
 * Returns whether the title or command line contains `name`, as it is or as a
 * pattern (fnmatch(3)).
 */
bool rcore_ruby_process_matches(const struct rcore_ruby_process *process, const char *name);

/* Removes those that do not match `name`. */
void rcore_ruby_processes_keep(struct rcore_ruby_processes *processes, const char *name);

void rcore_ruby_processes_deinit(struct rcore_ruby_processes *processes);

/*
 * Finds the one process that has `name` in its title or command line; `name`
 * may be a pattern (fnmatch(3)). If `has_descendants`, the caller reads the
 * descendants as well: then finds the process from which all others with that
 * name descend. Errors: USAGE (there is none, or there are several; the message
 * lists them); those of rcore_ruby_processes_read().
 */
struct rcore_error *rcore_ruby_process_find(const char *name, bool has_descendants,
					    int *ret_pid);

#endif
