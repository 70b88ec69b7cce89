/* SPDX-License-Identifier: MIT */
#include "session/live/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "base/grow.h"
#include "base/text.h"
#include "target/live/live_fds.h"

enum { TEXT_SIZE = 4096 };

static struct rcore_error *set(struct rcore_snapshot *snapshot, struct rcore_wait_fd *fd,
			       const char *text)
{
	fd->link = rcore_arena_strdup(&snapshot->arena, text);
	return fd->link ? NULL : rcore_error_no_memory();
}

static bool is_lock(const struct rcore_wait_fd *fd)
{
	return fd->mode && !strcmp(fd->mode, "lock");
}

/* Returns what `fd` is; reads it if `fds` lacks it. NULL: memory is short. */
static struct rcore_running_fd *look_up(struct rcore_running_fds *fds,
					const struct rcore_target *target,
					const struct rcore_wait_fd *fd)
{
	char text[TEXT_SIZE];
	uint64_t key = (uint64_t)(unsigned)fd->fd + 1;
	int index = rcore_address_map_get(&fds->known, key);
	struct rcore_running_fd *found = index < 0 ? NULL : &fds->items[index];
	if (!found) {
		found = rcore_push(fds);
		if (!found || !rcore_address_map_put(&fds->known, key, (int)fds->count - 1))
			return NULL;
		*found = (struct rcore_running_fd){.fd = fd->fd};
		if (rcore_live_fd(target->live, fd->fd, text, sizeof(text))) {
			found->link = rcore_arena_strdup(&fds->arena, text);
			if (!found->link)
				return NULL;
		}
		fds->read_count++;
	}
	if (is_lock(fd) && !found->has_looked_for_pid) {
		found->has_pid = rcore_live_flock_holder(target->live, fd->fd, &found->pid);
		found->has_looked_for_pid = true;
		fds->read_count++;
	}
	return found;
}

struct rcore_error *rcore_running_fds_note(struct rcore_running_fds *fds,
					   const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_wait *wait = snapshot->fibers[i].wait;
		if (!wait || !wait->fd_count)
			continue;
		const struct rcore_wait **noted = rcore_push(&fds->noted);
		if (!noted)
			return rcore_error_no_memory();
		*noted = wait;
	}
	return NULL;
}

struct rcore_error *rcore_running_fds_read(struct rcore_running_fds *fds,
					   const struct rcore_target *target)
{
	for (size_t i = 0; i < fds->noted.count; i++) {
		const struct rcore_wait *wait = fds->noted.items[i];
		for (size_t j = 0; j < wait->fd_count; j++)
			if (!look_up(fds, target, &wait->fds[j]))
				return rcore_error_no_memory();
	}
	fds->noted.count = 0;
	return NULL;
}

struct rcore_error *rcore_running_fds_set(struct rcore_running_fds *fds,
					  const struct rcore_target *target,
					  struct rcore_snapshot *snapshot)
{
	struct rcore_error *err = NULL;
	fds->read_count = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_wait *wait = snapshot->fibers[i].wait;
		for (size_t j = 0; !err && wait && j < wait->fd_count; j++) {
			const struct rcore_running_fd *found =
				look_up(fds, target, &wait->fds[j]);
			if (!found)
				return rcore_error_no_memory();
			if (found->link)
				err = set(snapshot, &wait->fds[j], found->link);
			if (!j && is_lock(&wait->fds[j])) {
				wait->has_pid = found->has_pid;
				wait->pid = found->pid;
			}
		}
	}
	return err;
}

void rcore_running_fds_deinit(struct rcore_running_fds *fds)
{
	free(fds->items);
	free(fds->noted.items);
	rcore_address_map_deinit(&fds->known);
	rcore_arena_deinit(&fds->arena);
	*fds = (struct rcore_running_fds){0};
}

/* Returns the inode number in "socket:[123]", or 0. */
static unsigned long inode_of(const struct rcore_wait_fd *fd)
{
	unsigned long inode;
	int length = 0;
	return fd->link && sscanf(fd->link, "socket:[%lu]%n", &inode, &length) == 1 && length
		       ? inode
		       : 0;
}

struct sockets {
	/* From an inode number to its place in `items` while they are added. */
	struct rcore_address_map map;
	struct rcore_live_socket *items;
	size_t count, capacity;
};

/* Calls `each` with every descriptor for which a fiber waits. */
static struct rcore_error *for_each_fd(struct rcore_snapshot *snapshot, struct sockets *sockets,
				       struct rcore_error *(*each)(struct rcore_snapshot *,
								   struct sockets *,
								   struct rcore_wait_fd *))
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_wait *wait = snapshot->fibers[i].wait;
		for (size_t j = 0; !err && wait && j < wait->fd_count; j++)
			err = each(snapshot, sockets, &wait->fds[j]);
	}
	return err;
}

static struct rcore_error *add_socket(struct rcore_snapshot *snapshot, struct sockets *sockets,
				      struct rcore_wait_fd *fd)
{
	unsigned long inode = inode_of(fd);
	(void)snapshot;
	if (!inode || rcore_address_map_get(&sockets->map, inode) >= 0)
		return NULL;
	struct rcore_live_socket *added = rcore_push(sockets);
	if (!added || !rcore_address_map_put(&sockets->map, inode, (int)sockets->count - 1))
		return rcore_error_no_memory();
	added->inode = inode;
	return NULL;
}

static int compare_inode(const void *inode, const void *socket)
{
	const unsigned long wanted = *(const unsigned long *)inode;
	const struct rcore_live_socket *item = socket;
	return wanted < item->inode ? -1 : wanted > item->inode;
}

static struct rcore_error *name_socket(struct rcore_snapshot *snapshot, struct sockets *sockets,
				       struct rcore_wait_fd *fd)
{
	char text[TEXT_SIZE];
	unsigned long inode = inode_of(fd);
	const struct rcore_live_socket *socket =
		inode ? bsearch(&inode, sockets->items, sockets->count, sizeof(*socket),
				compare_inode)
		      : NULL;
	if (!socket || !socket->addresses)
		return NULL;
	rcore_format(text, sizeof(text), "%s %s", fd->link, socket->addresses);
	return set(snapshot, fd, text);
}

struct rcore_error *rcore_running_sockets(const struct rcore_target *target,
					  struct rcore_snapshot *snapshot)
{
	struct sockets sockets = {0};
	struct rcore_error *err = for_each_fd(snapshot, &sockets, add_socket);
	if (!err && sockets.count) {
		rcore_live_sockets(target->live, sockets.items, sockets.count,
				   &snapshot->arena);
		err = for_each_fd(snapshot, &sockets, name_socket);
	}
	free(sockets.items);
	rcore_address_map_deinit(&sockets.map);
	return err;
}

struct rcore_error *rcore_running_debugged_fds(const struct rcore_target *target,
					       struct rcore_snapshot *snapshot)
{
	struct rcore_target opened = *target;
	struct rcore_running_fds fds = {0};
	opened.live =
		target->process->is_debugged ? rcore_live_debugged_open(target->process) : NULL;
	if (!opened.live)
		return NULL;
	struct rcore_error *err = rcore_running_fds_set(&fds, &opened, snapshot);
	if (!err)
		err = rcore_running_sockets(&opened, snapshot);
	rcore_running_fds_deinit(&fds);
	rcore_live_debugged_close(opened.live);
	return err;
}
