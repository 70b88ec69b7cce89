/* SPDX-License-Identifier: MIT */
#include "cli/collect/collect_room.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/count.h"
#include "base/grow.h"

struct file {
	char name[NAME_MAX + 1];
	struct timespec changed;
	uint64_t size; /* on disk */
};

struct files {
	struct file *items;
	size_t count, capacity;
	uint64_t size;
};

/* "20260102T030405Z-1234-0.txt" */
static bool is_name(const char *name)
{
	static const char pattern[] = "ddddddddTddddddZ-";
	static const char *const endings[] = {
		".txt", ".json", ".html", ".core", ".jsonl", ".full-core.zst", ".full-core.gz"};
	for (size_t i = 0; pattern[i]; i++)
		if (pattern[i] == 'd' ? !isdigit((unsigned char)name[i])
				      : name[i] != pattern[i])
			return false;
	const char *ending = strchr(name, '.');
	for (size_t i = 0; ending && i < RCORE_COUNT(endings); i++)
		if (!strcmp(ending, endings[i]))
			return true;
	return false;
}

void rcore_room_lock(int fd)
{
	(void)!flock(fd, LOCK_EX | LOCK_NB);
}

static bool is_locked(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	if (fd >= 0)
		close(fd);
	return locked;
}

static bool is_ours(int folder, const char *name, struct stat *status)
{
	return !fstatat(folder, name, status, AT_SYMLINK_NOFOLLOW) &&
	       S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
	       status->st_nlink == 1 && !is_locked(folder, name);
}

static int oldest_first(const void *left, const void *right)
{
	const struct file *a = left, *b = right;
	if (a->changed.tv_sec != b->changed.tv_sec)
		return a->changed.tv_sec < b->changed.tv_sec ? -1 : 1;
	return a->changed.tv_nsec < b->changed.tv_nsec
		       ? -1
		       : a->changed.tv_nsec > b->changed.tv_nsec;
}

static struct rcore_error *list(const struct rcore_room *room, struct files *ret)
{
	int fd = openat(room->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	if (!folder)
		return rcore_error_os(errno, "cannot list the folder of reports");
	const struct dirent *entry;
	struct rcore_error *err = NULL;
	while (!err && (entry = readdir(folder))) {
		struct stat status;
		if (!is_name(entry->d_name) ||
		    !strncmp(entry->d_name, room->own, strlen(room->own)) ||
		    !is_ours(room->folder, entry->d_name, &status))
			continue;
		struct file *file = rcore_push(ret);
		if (!file) {
			err = rcore_error_no_memory();
			break;
		}
		strcpy(file->name, entry->d_name);
		file->changed = status.st_mtim;
		file->size = (uint64_t)status.st_blocks * 512;
		ret->size += file->size;
	}
	closedir(folder);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), oldest_first);
	return err;
}

static uint64_t free_space(const struct rcore_room *room, uint64_t *reserved)
{
	struct statvfs found;
	*reserved = 0;
	if (fstatvfs(room->folder, &found))
		return UINT64_MAX;
	*reserved = (uint64_t)found.f_blocks * found.f_frsize / 100 * room->limits->percent;
	return (uint64_t)found.f_bavail * found.f_frsize;
}

struct rcore_error *rcore_room_make(const struct rcore_room *room, uint64_t *ret)
{
	enum { DAY = 24 * 60 * 60 };
	const struct rcore_room_limits *limits = room->limits;
	uint64_t most = limits->megabytes ? (uint64_t)limits->megabytes << 20 : UINT64_MAX;
	uint64_t reserved, available = free_space(room, &reserved);
	struct files files = {0};
	time_t now = time(NULL);
	struct rcore_error *err = list(room, &files);
	for (size_t i = 0; i < files.count && !err; i++) {
		const struct file *file = &files.items[i];
		bool is_old =
			limits->days && now - file->changed.tv_sec > (time_t)limits->days * DAY;
		if (!is_old && files.size < most &&
		    (room->ignores_disk || available > reserved))
			break;
		if (unlinkat(room->folder, file->name, 0))
			continue;
		files.size -= file->size;
		available += file->size;
	}
	free(files.items);
	uint64_t left = most > files.size ? most - files.size : 0;
	uint64_t on_disk = available > reserved ? available - reserved : 0;
	*ret = left < on_disk ? left : on_disk;
	return err;
}

uint64_t rcore_room_more(const struct rcore_room *room)
{
	struct files files = {0};
	uint64_t size = 0;
	rcore_error_free(list(room, &files));
	for (size_t i = 0; i < files.count && !size; i++)
		if (!unlinkat(room->folder, files.items[i].name, 0))
			size = files.items[i].size;
	free(files.items);
	return size;
}
