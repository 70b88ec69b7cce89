/* SPDX-License-Identifier: MIT */
#include "sampler/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "session/live/ruby_processes.h"

static const uint64_t second = 1000000000;

/*
 * The time between two looks at one process: at first, and the longest. While a
 * process is young, its program is checked at each call.
 */
static const uint64_t first_wait = 100000000, last_wait = 10000000000, young = 1000000000;

struct process {
	int pid;
	uint64_t found;
	uint64_t program, next_program; /* when to check it again */
	uint64_t wait, next_look;
};

struct processes {
	struct process *items;
	size_t count, capacity;
};

struct rcore_host {
	const struct rcore_host_probe *probe;
	struct processes known, before; /* by pid */
	struct {
		int *items;
		size_t count, capacity;
	} found;
};

static uint64_t program_of(int pid)
{
	char path[32];
	struct stat status;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (stat(path, &status))
		return 0;
	return (uint64_t)status.st_ino ^ (uint64_t)status.st_dev << 40;
}

const struct rcore_host_probe rcore_host_probe = {program_of, rcore_process_may_run_ruby};

struct rcore_host *rcore_host_new(const struct rcore_host_probe *probe)
{
	struct rcore_host *host = calloc(1, sizeof(*host));
	if (host)
		host->probe = probe;
	return host;
}

void rcore_host_free(struct rcore_host *host)
{
	if (!host)
		return;
	free(host->known.items);
	free(host->before.items);
	free(host->found.items);
	free(host);
}

static bool look(const struct rcore_host *host, struct process *process, uint64_t now)
{
	if (now < process->next_program)
		return false;
	process->next_program = now - process->found < young ? now : now + second;
	uint64_t program = host->probe->program(process->pid);
	if (program != process->program)
		process->wait = first_wait;
	else if (now < process->next_look)
		return false;
	process->program = program;
	process->next_look = now + process->wait;
	process->wait = process->wait * 2 < last_wait ? process->wait * 2 : last_wait;
	return host->probe->runs_ruby(process->pid);
}

struct rcore_error *rcore_host_look(struct rcore_host *host, const int *pids, size_t count,
				    uint64_t now, const int **ret, size_t *ret_count)
{
	const struct processes before = host->known;
	size_t at = 0;
	host->known = host->before;
	host->before = before;
	host->known.count = host->found.count = 0;
	for (size_t i = 0; i < count; i++) {
		struct process *process = rcore_push(&host->known);
		if (!process)
			return rcore_error_no_memory();
		while (at < before.count && before.items[at].pid < pids[i])
			at++;
		if (at < before.count && before.items[at].pid == pids[i])
			*process = before.items[at];
		else
			*process = (struct process){
				.pid = pids[i], .found = now, .wait = first_wait};
		if (!look(host, process, now))
			continue;
		int *found = rcore_push(&host->found);
		if (!found)
			return rcore_error_no_memory();
		*found = pids[i];
	}
	*ret = host->found.items;
	*ret_count = host->found.count;
	return NULL;
}
