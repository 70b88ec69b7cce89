/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ruby/object/string.h"
#include "vm/wait/wait_private.h"

static const char *path_of(struct rcore_waits *waits, uint64_t io)
{
	struct rcore_ruby *ruby = waits->loader->ruby;
	uint64_t value = rcore_wait_field(waits, io, &ruby->layout->io.pathv);
	const char *path = NULL;
	if (value && !rcore_is_nil(ruby, value))
		rcore_error_free(rcore_string(ruby, value, &path, NULL));
	return path;
}

struct rcore_error *rcore_wait_add_fd(struct rcore_waits *waits, struct rcore_wait *wait,
				      int fd, const char *mode, uint64_t io)
{
	struct rcore_wait_fd *entry = NULL;
	for (size_t i = 0; i < wait->fd_count && !entry; i++)
		if (wait->fds[i].fd == fd &&
		    (!mode || !wait->fds[i].mode || !strcmp(mode, wait->fds[i].mode)))
			entry = &wait->fds[i];
	if (!entry) {
		/*
		 * The arrays that it replaces stay in the arena; few waits have
		 * more than one descriptor.
		 */
		struct rcore_wait_fd *fds = rcore_arena_alloc(
			&waits->loader->snapshot->arena, (wait->fd_count + 1) * sizeof(*fds));
		if (!fds)
			return rcore_error_no_memory();
		if (wait->fd_count)
			memcpy(fds, wait->fds, wait->fd_count * sizeof(*fds));
		wait->fds = fds;
		entry = &fds[wait->fd_count++];
		entry->fd = fd;
	}
	if (mode)
		entry->mode = mode;
	if (io && !entry->path)
		entry->path = path_of(waits, io);
	return NULL;
}

struct rcore_error *rcore_wait_add_io(struct rcore_waits *waits, struct rcore_wait *wait,
				      uint64_t object, const char *mode)
{
	struct rcore_sync sync;
	uint64_t fd;
	struct rcore_error *err = rcore_wait_sync(waits, object, &sync);
	if (err || sync.kind != RCORE_SYNC_IO ||
	    rcore_read_field(waits->loader->ruby->memory, sync.data,
			     &waits->loader->ruby->layout->io.fd, &fd) ||
	    (int32_t)fd < 0)
		return err;
	return rcore_wait_add_fd(waits, wait, (int32_t)fd, mode, sync.data);
}
