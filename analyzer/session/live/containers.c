/* SPDX-License-Identifier: MIT */
#include "session/live/containers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "session/live/ruby_processes.h"

enum { ID_SIZE = 64, SHORTEST = 4 };

static size_t hex_length(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/*
 * A part of a container's cgroup is its id, or ends with it:
 *
 *	ID				Docker, Kubernetes
 *	docker-ID.scope			Docker, by systemd
 *	libpod-ID.scope			Podman; a folder "container" follows
 *	cri-containerd-ID.scope		containerd, by systemd
 *	...slice:cri-containerd:ID	containerd, if systemd is not set up
 *	crio-ID.scope			CRI-O
 */
static bool part_is_of(const char *part, size_t size, const char *id)
{
	static const char scope[] = ".scope", monitor[] = "conmon";
	size_t suffix = sizeof(scope) - 1;
	if (size > suffix && !memcmp(part + size - suffix, scope, suffix))
		size -= suffix;
	if (size < ID_SIZE || memmem(part, size, monitor, sizeof(monitor) - 1))
		return false;
	const char *own = part + size - ID_SIZE;
	return hex_length(own) >= ID_SIZE && (own == part || strchr("-:", own[-1])) &&
	       !strncmp(own, id, strlen(id));
}

bool rcore_cgroup_is_of(const char *cgroup, const char *id)
{
	while (*cgroup) {
		size_t size = strcspn(cgroup, "/\n");
		if (part_is_of(cgroup, size, id))
			return true;
		cgroup += size + (cgroup[size] != '\0');
	}
	return false;
}

static bool is_in(int pid, const char *id)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d", pid);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	char *cgroup = rcore_live_file(folder, "cgroup", NULL);
	bool found = cgroup && rcore_cgroup_is_of(cgroup, id);
	free(cgroup);
	close(folder);
	return found;
}

static bool is_listed(const struct rcore_ruby_processes *processes, int pid)
{
	for (size_t i = 0; i < processes->count; i++)
		if (processes->items[i].pid == pid)
			return true;
	return false;
}

/* Keeps the processes of the container. */
static void select_members(struct rcore_ruby_processes *processes, const char *id)
{
	size_t kept = 0;
	for (size_t i = 0; i < processes->count; i++) {
		struct rcore_ruby_process *process = &processes->items[i];
		if (is_in(process->pid, id)) {
			processes->items[kept++] = *process;
			continue;
		}
		free(process->command);
		free(process->problem);
	}
	processes->count = kept;
}

static struct rcore_error *choose(const struct rcore_ruby_processes *processes, const char *id,
				  int *ret_pid)
{
	char list[256] = "", escaped[128];
	size_t first = 0, used = 0;
	for (size_t i = 0; i < processes->count; i++) {
		const struct rcore_ruby_process *process = &processes->items[i];
		if (is_listed(processes, process->status.parent))
			continue;
		*ret_pid = process->pid;
		if (used + 16 < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%d",
						 first ? ", " : "", process->pid);
		first++;
	}
	if (first == 1)
		return NULL;
	rcore_escape(escaped, sizeof(escaped), id);
	if (first)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"container %s has several Ruby processes: %s; name one "
			"with -p PID",
			escaped, list);
	return rcore_error_create(RCORE_ERROR_USAGE,
				  "no Ruby process is in a container %s; `docker ps`, `podman "
				  "ps` and `crictl ps` print the ids of containers, `rcore ps` "
				  "all Ruby processes",
				  escaped);
}

struct rcore_error *rcore_container_find(const char *id, int *ret_pid)
{
	char escaped[128];
	struct rcore_ruby_processes processes = {0};
	if (hex_length(id) != strlen(id) || strlen(id) < SHORTEST || strlen(id) > ID_SIZE)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "'%s' is not the id of a container: that is 4 to 64 "
					  "hexadecimal digits, as "
					  "`docker ps`, `podman ps` and `crictl ps` print them",
					  rcore_escape(escaped, sizeof(escaped), id));
	struct rcore_error *err = rcore_ruby_processes_read(&processes);
	if (!err) {
		select_members(&processes, id);
		err = choose(&processes, id, ret_pid);
	}
	rcore_ruby_processes_deinit(&processes);
	return err;
}
