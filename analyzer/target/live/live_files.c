/* SPDX-License-Identifier: MIT */
#include "target/live/live_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

enum { FILE_LIMIT = 64 << 20 };

static int read_all(int descriptor, char **text, size_t *size)
{
	size_t capacity = 0, used = 0;
	for (;;) {
		if (capacity - used < 2) {
			capacity = capacity ? capacity * 2 : 4096;
			char *grown = capacity <= FILE_LIMIT ? realloc(*text, capacity) : NULL;
			if (!grown)
				return capacity <= FILE_LIMIT ? ENOMEM : EFBIG;
			*text = grown;
		}
		ssize_t got = read(descriptor, *text + used, capacity - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		used += (size_t)got;
		if (got)
			continue;
		(*text)[used] = '\0';
		*size = used;
		return 0;
	}
}

char *rcore_live_file(int folder, const char *name, size_t *size)
{
	char *text = NULL;
	size_t length = 0;
	int descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return NULL;
	int errnum = read_all(descriptor, &text, &length);
	close(descriptor);
	if (errnum) {
		free(text);
		errno = errnum;
		return NULL;
	}
	if (size)
		*size = length;
	return text;
}

/*
 * Returns what follows "Name:\t" at the start of a line; NULL if there is no
 * such line.
 */
static const char *line_of(const char *text, const char *name)
{
	size_t length = strlen(name);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			return line + length + 1 + strspn(line + length + 1, "\t ");
	}
	return NULL;
}

static int number_of(const char *text, const char *name)
{
	const char *line = line_of(text, name);
	return line ? atoi(line) : 0;
}

/*
 * NSpid has the id in each namespace, from the outermost visible one to the
 * innermost.
 */
static void read_inner_id(const char *text, struct rcore_live_status *ret)
{
	const char *line = line_of(text, "NSpid");
	ret->depth = -1;
	while (line && *line && *line != '\n') {
		char *end;
		long id = strtol(line, &end, 10);
		if (end == line)
			break;
		ret->inner_id = (int)id;
		ret->depth++;
		line = end + strspn(end, "\t ");
	}
	if (ret->depth < 0)
		ret->depth = 0;
}

/*
 * PF_KTHREAD of linux/sched.h, in the ninth field of stat. The second field may
 * contain anything, and ends with the last parenthesis.
 */
bool rcore_live_is_kernel_thread(int folder)
{
	enum { KERNEL_THREAD = 0x00200000 };
	unsigned flags = 0;
	char *text = rcore_live_file(folder, "stat", NULL);
	const char *rest = text ? strrchr(text, ')') : NULL;
	bool read = rest && sscanf(rest, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1;
	free(text);
	return read && flags & KERNEL_THREAD;
}

bool rcore_live_status_read(int folder, const char *task, struct rcore_live_status *ret)
{
	char *text = rcore_live_file(folder, task, NULL);
	const char *name = text ? line_of(text, "Name") : NULL;
	const char *state = text ? line_of(text, "State") : NULL;
	if (!name || !state) {
		free(text);
		return false;
	}
	*ret = (struct rcore_live_status){.state = *state};
	rcore_format(ret->name, sizeof(ret->name), "%.*s", (int)strcspn(name, "\n"), name);
	rcore_utf8_trim(ret->name);
	ret->tgid = number_of(text, "Tgid");
	ret->parent = number_of(text, "PPid");
	ret->tracer = number_of(text, "TracerPid");
	ret->thread_count = number_of(text, "Threads");
	ret->has_memory = line_of(text, "VmSize") != NULL;
	ret->user = (uid_t)number_of(text, "Uid");
	ret->group = (gid_t)number_of(text, "Gid");
	read_inner_id(text, ret);
	const char *waits = line_of(text, "voluntary_ctxt_switches");
	ret->waits = waits ? strtoull(waits, NULL, 10) : 0;
	free(text);
	return true;
}

bool rcore_live_status_of(int id, struct rcore_live_status *ret)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d", id);
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool is_read = folder >= 0 && rcore_live_status_read(folder, "status", ret);
	if (folder >= 0)
		close(folder);
	return is_read;
}

/* A thread that has memory, as try_task() finds it. */
struct living {
	int home, folder, task;
};

/* Returns false to end the walk. */
static bool try_task(void *context, int tid)
{
	struct living *living = context;
	struct rcore_live_status status;
	char path[32], name[32];
	snprintf(path, sizeof(path), "/proc/%d", tid);
	snprintf(name, sizeof(name), "task/%d", tid);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Another process may have got the id; then `home` does not list it. */
	if (folder >= 0 && rcore_live_status_read(folder, "status", &status) &&
	    status.has_memory && !faccessat(living->home, name, F_OK, 0)) {
		living->folder = folder;
		living->task = tid;
		return false;
	}
	if (folder >= 0)
		close(folder);
	return true;
}

int rcore_live_folder_find(int home, int pid, int *ret)
{
	struct living living = {home, -1, 0};
	struct rcore_live_status status;
	if (!rcore_live_status_read(home, "status", &status))
		return -1;
	*ret = pid;
	if (status.has_memory)
		return fcntl(home, F_DUPFD_CLOEXEC, 0);
	if (status.thread_count > 1)
		rcore_live_tasks(home, try_task, &living);
	*ret = living.task;
	return living.folder;
}

/* A kernel thread, a zombie, and a process that is ending have no program. */
static bool may_lack_memory(int folder)
{
	char target[1];
	return readlinkat(folder, "exe", target, sizeof(target)) < 0 && errno == ENOENT;
}

int rcore_live_folder_open(int pid, int *ret)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d", pid);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), task;
	*ret = pid;
	if (folder < 0 || !may_lack_memory(folder))
		return folder;
	int found = rcore_live_folder_find(folder, pid, &task);
	if (found < 0)
		return folder;
	close(folder);
	*ret = task;
	return found;
}

bool rcore_live_has_ended(int pid)
{
	struct rcore_live_status status;
	if (!rcore_live_status_of(pid, &status))
		return kill(pid, 0) && errno == ESRCH;
	return (status.state == 'Z' && status.thread_count <= 1) || status.state == 'X';
}

bool rcore_live_has_own_root(int folder)
{
	struct stat own, root, own_mounts, mounts;
	if (stat("/", &own) || fstatat(folder, "root", &root, 0) ||
	    stat("/proc/self/ns/mnt", &own_mounts) || fstatat(folder, "ns/mnt", &mounts, 0))
		return false;
	return own.st_dev != root.st_dev || own.st_ino != root.st_ino ||
	       own_mounts.st_dev != mounts.st_dev || own_mounts.st_ino != mounts.st_ino;
}

int rcore_live_tasks(int folder, bool (*visit)(void *context, int tid), void *context)
{
	int descriptor = openat(folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = descriptor < 0 ? NULL : fdopendir(descriptor);
	if (!list) {
		int errnum = errno;
		if (descriptor >= 0)
			close(descriptor);
		return errnum;
	}
	const struct dirent *entry;
	int errnum = 0;
	while (errno = 0, (entry = readdir(list))) {
		int tid = atoi(entry->d_name);
		if (tid > 0 && !visit(context, tid))
			break;
	}
	if (!entry)
		errnum = errno;
	closedir(list);
	return errnum;
}

size_t rcore_live_task_count(int folder)
{
	/* A folder has two links, and one more for each folder in it. */
	enum { LINKS = 2 };
	struct stat status;
	bool is_known = !fstatat(folder, "task", &status, 0) && status.st_nlink > LINKS;
	return is_known ? (size_t)status.st_nlink - LINKS : 0;
}
