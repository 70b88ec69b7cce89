/* SPDX-License-Identifier: MIT */
#include "session/running.h"

#include <stdio.h>
#include <string.h>

#include "target/live/live_fds.h"

enum { TEXT_SIZE = 4096, SOCKET_LIMIT = 64 };

static struct rcore_error *set(struct rcore_snapshot *snapshot, struct rcore_wait_fd *fd,
			       const char *text)
{
	fd->link = rcore_arena_strdup(&snapshot->arena, text);
	return fd->link ? NULL : rcore_error_no_memory();
}

static void set_lock_holder(const struct rcore_target *target, struct rcore_wait *wait)
{
	if (wait->fd_count && wait->fds[0].mode && !strcmp(wait->fds[0].mode, "lock"))
		wait->has_pid =
			rcore_live_flock_holder(target->live, wait->fds[0].fd, &wait->pid);
}

struct rcore_error *rcore_running_fds(const struct rcore_target *target,
				      struct rcore_snapshot *snapshot)
{
	char text[TEXT_SIZE];
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_wait *wait = snapshot->fibers[i].wait;
		for (size_t j = 0; !err && wait && j < wait->fd_count; j++)
			if (rcore_live_fd(target->live, wait->fds[j].fd, text, sizeof(text)))
				err = set(snapshot, &wait->fds[j], text);
		if (!err && wait)
			set_lock_holder(target, wait);
	}
	return err;
}

struct rcore_error *rcore_running_sockets(const struct rcore_target *target,
					  struct rcore_snapshot *snapshot)
{
	char text[TEXT_SIZE];
	size_t looked_up = 0;
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_wait *wait = snapshot->fibers[i].wait;
		for (size_t j = 0; !err && wait && j < wait->fd_count; j++) {
			unsigned long inode;
			int length = 0;
			if (!wait->fds[j].link ||
			    sscanf(wait->fds[j].link, "socket:[%lu]%n", &inode, &length) != 1 ||
			    !length || looked_up++ >= SOCKET_LIMIT)
				continue;
			snprintf(text, sizeof(text), "%s ", wait->fds[j].link);
			if (rcore_live_socket(target->live, inode, text + length + 1,
					      sizeof(text) - (size_t)length - 1))
				err = set(snapshot, &wait->fds[j], text);
		}
	}
	return err;
}
