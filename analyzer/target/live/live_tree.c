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

/* Calls `each` for the folder of each process in /proc. Returns an errno. */
static int walk_processes(int (*each)(int folder, const char *name, void *context),
			  void *context)
{
	DIR *folder = opendir("/proc");
	if (!folder)
		return errno;
	int errnum = 0;
	const struct dirent *found;
	while (!errnum && (errno = 0, found = readdir(folder)))
		if (atoi(found->d_name) > 0)
			errnum = each(dirfd(folder), found->d_name, context);
	closedir(folder);
	return errnum;
}

/* Skips processes that end while the list is built. */
static int add_entry(int folder, const char *name, void *context)
{
	struct rcore_live_status status;
	struct entries *entries = context;
	int process = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (process < 0)
		return 0;
	bool is_there = rcore_live_status_read(process, "status", &status);
	close(process);
	if (!is_there)
		return 0;
	struct entry *entry = rcore_push(entries);
	if (!entry)
		return ENOMEM;
	*entry = (struct entry){atoi(name), status.parent};
	return 0;
}

static int list_processes(struct entries *ret)
{
	int errnum = walk_processes(add_entry, ret);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_pid);
	return errnum;
}

/*
 * A process whose id is reused while the list is built could be its own
 * ancestor, so each is added once.
 */
static size_t collect(struct entries *entries, const int *roots, size_t root_count, int *ret)
{
	size_t count = 0;
	for (size_t i = 0; i < root_count; i++) {
		const struct entry key = {roots[i], 0};
		struct entry *found =
			bsearch(&key, entries->items, entries->count, sizeof(key), by_pid);
		if (!found || found->parent < 0)
			continue;
		ret[count++] = roots[i];
		found->parent = -1;
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

struct rcore_error *rcore_process_trees(const int *roots, size_t root_count, int **ret,
					size_t *ret_count)
{
	struct entries entries = {0};
	int errnum = list_processes(&entries);
	int *pids = errnum ? NULL : rcore_calloc(entries.count, sizeof(*pids));
	size_t count = pids && entries.count ? collect(&entries, roots, root_count, pids) : 0;
	free(entries.items);
	if (!pids)
		return errnum && errnum != ENOMEM ? rcore_error_os(errnum, "/proc")
						  : rcore_error_no_memory();
	*ret = pids;
	*ret_count = count;
	return NULL;
}

struct rcore_error *rcore_process_tree(int pid, int **ret, size_t *ret_count)
{
	struct rcore_error *err = rcore_process_trees(&pid, 1, ret, ret_count);
	if (err || *ret_count)
		return err;
	free(*ret);
	*ret = NULL;
	return rcore_live_explain(pid, -1, ENOENT);
}

struct ids {
	int *items;
	size_t count, capacity;
};

static int add_id(int folder, const char *name, void *context)
{
	struct ids *ids = context;
	int *id = rcore_push(ids);
	if (id)
		*id = atoi(name);
	return id ? 0 : ENOMEM;
}

static int by_id(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

struct rcore_error *rcore_process_ids(int **ret, size_t *ret_count)
{
	struct ids ids = {0};
	int errnum = walk_processes(add_id, &ids);
	if (errnum) {
		free(ids.items);
		return errnum == ENOMEM ? rcore_error_no_memory()
					: rcore_error_os(errnum, "/proc");
	}
	if (ids.count)
		qsort(ids.items, ids.count, sizeof(*ids.items), by_id);
	*ret = ids.items;
	*ret_count = ids.count;
	return NULL;
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
