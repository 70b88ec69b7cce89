/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "target/live/live_fds.h"
#include "target/live/live_private.h"

/*
 * "1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF", device in hex and inode
 * (lock_get_status() of fs/locks.c). A process that waits for the lock has
 * "->" after the number. The pid is that of our namespace.
 */
static bool holds(const char *line, const struct stat *file, int *ret)
{
	char kind[16];
	unsigned major_number, minor_number;
	unsigned long inode;
	int pid;
	if (sscanf(line, "%*d: %15s %*s %*s %d %x:%x:%lu", kind, &pid, &major_number,
		   &minor_number, &inode) != 5 ||
	    strcmp(kind, "FLOCK") || pid <= 0 || inode != file->st_ino ||
	    major_number != major(file->st_dev) || minor_number != minor(file->st_dev))
		return false;
	*ret = pid;
	return true;
}

bool rcore_live_flock_holder(const struct rcore_live *live, int fd, int *ret)
{
	enum { LINE_LIMIT = 1 << 20 };
	char path[32], line[256];
	struct stat file;
	bool found = false;
	snprintf(path, sizeof(path), "fd/%d", fd);
	if (fstatat(live->folder, path, &file, 0))
		return false;
	FILE *locks = fopen("/proc/locks", "re");
	for (int i = 0; locks && !found && i < LINE_LIMIT && fgets(line, sizeof(line), locks);
	     i++)
		found = holds(line, &file, ret);
	if (locks)
		fclose(locks);
	return found;
}
