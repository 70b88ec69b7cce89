/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "sampler/sampling_private.h"
#include "target/live/live_files.h"

/*
 * Fields of /proc/PID/stat. The kernel sets PF_EXITING of the flags (sched.h of
 * Linux), frees the memory of the process, and only then sets the state to 'Z'.
 */
struct stat_fields {
	char state;
	unsigned flags;
	uint64_t started;
};

/* Returns false and sets errno if that fails. */
static bool read_stat(const char *path, struct stat_fields *ret)
{
	char text[1024];
	FILE *file = fopen(path, "r");
	if (!file)
		return false;
	size_t size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	const char *end = strrchr(text, ')');
	*ret = (struct stat_fields){0};
	return end && sscanf(end,
			     ") %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			     "%*d %*d %*d %" SCNu64,
			     &ret->state, &ret->flags, &ret->started) >= 1;
}

static bool is_alive(const char *path)
{
	enum { EXITING = 4 };
	struct stat_fields fields;
	errno = 0;
	/* If it fails, rcore may have too many files open. */
	if (!read_stat(path, &fields))
		return errno && errno != ENOENT && errno != ESRCH;
	return fields.state != 'Z' && fields.state != 'X' && !(fields.flags & EXITING);
}

struct threads {
	int pid;
	bool is_alive;
};

/* False ends the walk. */
static bool look_at_thread(void *context, int tid)
{
	struct threads *threads = context;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", threads->pid, tid);
	threads->is_alive = is_alive(path);
	return !threads->is_alive;
}

/*
 * If a thread that is not the main one calls execve(2), the main thread exits
 * and the other one takes its place.
 */
bool rcore_process_is_alive(int pid)
{
	struct threads threads = {.pid = pid};
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (is_alive(path))
		return true;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	rcore_live_tasks(folder, look_at_thread, &threads);
	close(folder);
	return threads.is_alive;
}

static struct rcore_pid_use *use_of(const struct rcore_sampling *sampling, int pid)
{
	for (size_t i = 0; i < sampling->uses.count; i++)
		if (sampling->uses.items[i].pid == pid)
			return &sampling->uses.items[i];
	return NULL;
}

uint32_t rcore_pid_use_count(struct rcore_sampling *sampling, int pid)
{
	struct stat_fields fields = {0};
	struct rcore_pid_use *use = use_of(sampling, pid);
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	read_stat(path, &fields);
	if (use && fields.started && fields.started == use->started)
		return use->count;
	uint32_t before = use ? use->count : 0;
	if (!use && !(use = rcore_push(&sampling->uses)))
		return 0;
	*use = (struct rcore_pid_use){
		.pid = pid, .count = before + 1, .started = fields.started};
	return use->count;
}

void rcore_pid_use_sampled(struct rcore_sampling *sampling, const struct rcore_member *member)
{
	struct rcore_pid_use *use = use_of(sampling, member->pid);
	sampling->summary.processes += !use->was_sampled;
	sampling->summary.copied += member->is_copied && !use->was_copied;
	use->was_sampled = true;
	use->was_copied |= member->is_copied;
}
