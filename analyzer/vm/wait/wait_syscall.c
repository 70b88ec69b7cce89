/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "target/live/syscall.h"
#include "vm/wait/wait_private.h"

/* struct pollfd { int fd; short events, revents; } */
enum { POLL_READ = 0x1 /* POLLIN */, POLL_WRITE = 0x4 /* POLLOUT */ };
struct poll_entry {
	int32_t fd;
	int16_t events, revents;
};

static struct rcore_error *add_polled(struct rcore_waits *waits, struct rcore_wait *wait,
				      const struct rcore_syscall *call)
{
	enum { CHUNK = 64 };
	struct poll_entry entries[CHUNK];
	uint64_t at = call->arguments[0], left = call->arguments[1];
	struct rcore_error *err = NULL;
	if (left > RCORE_WAIT_FDS)
		return NULL;
	while (!err && left) {
		size_t count = left > CHUNK ? CHUNK : left;
		if (rcore_read(waits->loader->ruby->memory, at, entries,
			       count * sizeof(entries[0])))
			return NULL;
		for (size_t i = 0; !err && i < count; i++)
			if (entries[i].fd >= 0)
				err = rcore_wait_add_fd(waits, wait, entries[i].fd,
							entries[i].events & POLL_READ ? "read"
							: entries[i].events & POLL_WRITE
								? "write"
								: NULL,
							0);
		at += count * sizeof(entries[0]);
		left -= count;
	}
	return err;
}

static struct rcore_error *add_selected(struct rcore_waits *waits, struct rcore_wait *wait,
					const struct rcore_syscall *call)
{
	static const char *const modes[] = {"read", "write", "except"};
	uint64_t words[RCORE_WAIT_FDS / 64];
	int limit = call->arguments[0] > RCORE_WAIT_FDS ? 0 : (int)call->arguments[0];
	size_t size = ((size_t)limit + 63) / 64 * sizeof(words[0]);
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < 3; i++) {
		if (!call->arguments[1 + i] || !size ||
		    rcore_read(waits->loader->ruby->memory, call->arguments[1 + i], words,
			       size))
			continue;
		for (int fd = 0; !err && fd < limit; fd++)
			if (words[fd / 64] >> (fd % 64) & 1)
				err = rcore_wait_add_fd(waits, wait, fd, modes[i], 0);
	}
	return err;
}

static struct rcore_error *add_fds(struct rcore_waits *waits, struct rcore_wait *wait,
				   const struct rcore_syscall *call)
{
	int fd = (int)call->arguments[0];
	switch (call->role) {
	case RCORE_SYSCALL_READ:
	case RCORE_SYSCALL_EPOLL:
		return rcore_wait_add_fd(waits, wait, fd, "read", 0);
	case RCORE_SYSCALL_WRITE:
		return rcore_wait_add_fd(waits, wait, fd, "write", 0);
	case RCORE_SYSCALL_POLL:
		return add_polled(waits, wait, call);
	case RCORE_SYSCALL_SELECT:
		return add_selected(waits, wait, call);
	default:
		return NULL;
	}
}

static const enum rcore_wait_kind kinds[] = {
	[RCORE_SYSCALL_OTHER] = RCORE_WAIT_SYSCALL, [RCORE_SYSCALL_READ] = RCORE_WAIT_IO,
	[RCORE_SYSCALL_WRITE] = RCORE_WAIT_IO,      [RCORE_SYSCALL_EPOLL] = RCORE_WAIT_IO,
	[RCORE_SYSCALL_POLL] = RCORE_WAIT_IO,       [RCORE_SYSCALL_SELECT] = RCORE_WAIT_IO,
	[RCORE_SYSCALL_WAIT] = RCORE_WAIT_PROCESS,
};

/*
 * Calls in which the VM waits for locks, sleeps and the like; other evidence
 * says more about those.
 */
static bool is_internal(const struct rcore_syscall *call)
{
	return !call->name || !strcmp(call->name, "futex");
}

static struct rcore_error *complete(struct rcore_waits *waits, struct rcore_wait *wait,
				    const struct rcore_syscall *call)
{
	if (wait->kind == RCORE_WAIT_PROCESS && call->role == RCORE_SYSCALL_WAIT &&
	    !wait->has_pid) {
		wait->has_pid = true;
		wait->pid = (int)call->arguments[0];
	}
	return wait->kind == RCORE_WAIT_IO ? add_fds(waits, wait, call) : NULL;
}

struct rcore_error *rcore_wait_syscall(struct rcore_waits *waits, int index)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_fiber *fiber = &loader->fibers.items[index];
	struct rcore_syscall call;
	if (!rcore_thread_syscall(loader, fiber->thread, &call))
		return NULL;
	if (fiber->wait)
		return complete(waits, fiber->wait, &call);
	if (is_internal(&call) || !call.unfinished)
		return NULL;
	struct rcore_wait *wait =
		rcore_wait_new(waits, index, kinds[call.role], RCORE_WAIT_BY_SYSCALL);
	if (!wait)
		return rcore_error_no_memory();
	wait->syscall = call.name;
	for (size_t i = 0; i < fiber->frame_count && !wait->method; i++)
		wait->method = fiber->frames[i].kind == RCORE_FRAME_CFUNC
				       ? fiber->frames[i].label
				       : NULL;
	return complete(waits, wait, &call);
}
