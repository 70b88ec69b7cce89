/* SPDX-License-Identifier: MIT */
#include "target/live/live_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "target/live/live_explain.h"

struct entry {
	int pid, parent;
};

struct entries {
	struct entry *items;
	size_t count, capacity;
};

static int by_pid(const void *left, const void *right)
{
	return ((const struct entry *)left)->pid - ((const struct entry *)right)->pid;
}

/* Skips processes that end while the list is built. */
static int list_processes(struct entries *ret)
{
	DIR *folder = opendir("/proc");
	if (!folder)
		return errno;
	int errnum = 0;
	const struct dirent *found;
	while (!errnum && (errno = 0, found = readdir(folder))) {
		struct rcore_live_status status;
		int pid = atoi(found->d_name);
		int process = pid > 0 ? openat(dirfd(folder), found->d_name,
					       O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				      : -1;
		if (process < 0)
			continue;
		if (rcore_live_status_read(process, "status", &status)) {
			struct entry *entry = rcore_push(ret);
			if (entry)
				*entry = (struct entry){pid, status.parent};
			else
				errnum = ENOMEM;
		}
		close(process);
	}
	closedir(folder);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_pid);
	return errnum;
}

/*
 * A process whose id is reused while the list is built could be its own
 * ancestor, so each is added once.
 */
static size_t collect(struct entries *entries, int pid, int *ret)
{
	size_t count = 0;
	for (size_t i = 0; i < entries->count; i++) {
		if (entries->items[i].pid == pid) {
			ret[count++] = pid;
			entries->items[i].parent = -1;
		}
	}
	for (size_t done = 0; done < count; done++) {
		for (size_t i = 0; i < entries->count; i++) {
			if (entries->items[i].parent != ret[done])
				continue;
			ret[count++] = entries->items[i].pid;
			entries->items[i].parent = -1;
		}
	}
	return count;
}

struct rcore_error *rcore_process_tree(int pid, int **ret, size_t *ret_count)
{
	struct entries entries = {0};
	int errnum = list_processes(&entries);
	int *pids = errnum ? NULL : rcore_calloc(entries.count, sizeof(*pids));
	size_t count = pids ? collect(&entries, pid, pids) : 0;
	free(entries.items);
	if (count) {
		*ret = pids;
		*ret_count = count;
		return NULL;
	}
	bool short_of_memory = !errnum && !pids;
	free(pids);
	return short_of_memory ? rcore_error_no_memory()
			       : rcore_live_explain(pid, -1, errnum ? errnum : ENOENT);
}

struct rcore_error *rcore_process_list(int **ret, size_t *ret_count)
{
	struct entries entries = {0};
	int errnum = list_processes(&entries);
	int *pids = errnum ? NULL : rcore_calloc(entries.count, sizeof(*pids));
	for (size_t i = 0; pids && i < entries.count; i++)
		pids[i] = entries.items[i].pid;
	free(entries.items);
	if (!pids)
		return errnum && errnum != ENOMEM ? rcore_error_os(errnum, "/proc")
						  : rcore_error_no_memory();
	*ret = pids;
	*ret_count = entries.count;
	return NULL;
}
