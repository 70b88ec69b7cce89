/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/live/live_fds.h"
#include "target/live/live_private.h"
#include "target/live/live_tree.h"

/* Opens /proc/OUTER if that is the child that its parent calls `pid`; or -1. */
static int open_child(const struct rcore_live *live, int outer, int pid)
{
	char path[32];
	struct rcore_live_status status;
	snprintf(path, sizeof(path), "/proc/%d", outer);
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0 && rcore_live_status_read(folder, "status", &status) &&
	    status.parent == live->pid && status.inner_id == pid)
		return folder;
	if (folder >= 0)
		close(folder);
	return -1;
}

/* In a container, the child has another id outside. */
static int find_child(const struct rcore_live *live, int pid)
{
	int *ids = NULL, folder = -1;
	size_t count = 0;
	rcore_error_free(rcore_process_ids(&ids, &count));
	for (size_t i = 0; folder < 0 && i < count; i++)
		folder = open_child(live, ids[i], pid);
	free(ids);
	return folder;
}

/* The kernel ends each argument with a NUL. Replaces these with spaces. */
static bool read_command(int folder, char *ret, size_t size)
{
	static const char more[] = "...";
	size_t length;
	char *text = rcore_live_file(folder, "cmdline", &length);
	if (!text)
		return false;
	while (length && (text[length - 1] == '\0' || text[length - 1] == ' '))
		length--;
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	text[length] = '\0';
	if (length < size)
		memcpy(ret, text, length + 1);
	else
		snprintf(ret, size, "%.*s%s", (int)(size - sizeof(more)), text, more);
	free(text);
	return length > 0;
}

bool rcore_live_child_command(const struct rcore_live *live, int pid, char *ret, size_t size)
{
	int folder = open_child(live, pid, pid);
	if (folder < 0 && live->status.depth > 0)
		folder = find_child(live, pid);
	if (folder < 0)
		return false;
	bool read = read_command(folder, ret, size);
	close(folder);
	return read;
}
