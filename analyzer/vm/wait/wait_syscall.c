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

/*
 * If the descriptors are known already, the call only shows what they are used
 * for. Up to 3.2, a thread also polls the descriptor through which signals wake
 * the VM, whenever no other thread does (rb_sigwait_fd_get() of
 * thread_pthread.c).
 */
static struct rcore_error *add(struct rcore_waits *waits, struct rcore_wait *wait, size_t known,
			       int fd, const char *mode)
{
	for (size_t i = 0; i < known; i++)
		if (wait->fds[i].fd == fd && !wait->fds[i].mode)
			wait->fds[i].mode = mode;
	return known ? NULL : rcore_wait_add_fd(waits, wait, fd, mode, 0);
}

/*
 * An entry without events waits for nothing that Ruby waits for: gcore writes
 * zeros for a stack that it could not read.
 */
static struct rcore_error *add_polled(struct rcore_waits *waits, struct rcore_wait *wait,
				      const struct rcore_syscall *call)
{
	enum { CHUNK = 64 };
	struct poll_entry entries[CHUNK];
	uint64_t at = call->arguments[0], left = call->arguments[1];
	size_t known = wait->fd_count;
	struct rcore_error *err = NULL;
	if (left > RCORE_WAIT_FDS)
		return NULL;
	while (!err && left) {
		size_t count = left > CHUNK ? CHUNK : left;
		if (rcore_read(waits->loader->ruby->memory, at, entries,
			       count * sizeof(entries[0])))
			return NULL;
		for (size_t i = 0; !err && i < count; i++)
			if (entries[i].fd >= 0 && entries[i].events)
				err = add(waits, wait, known, entries[i].fd,
					  entries[i].events & POLL_READ    ? "read"
					  : entries[i].events & POLL_WRITE ? "write"
									   : NULL);
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
	size_t known = wait->fd_count;
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < 3; i++) {
		if (!call->arguments[1 + i] || !size ||
		    rcore_read(waits->loader->ruby->memory, call->arguments[1 + i], words,
			       size))
			continue;
		for (int fd = 0; !err && fd < limit; fd++)
			if (words[fd / 64] >> (fd % 64) & 1)
				err = add(waits, wait, known, fd, modes[i]);
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
		return add(waits, wait, wait->fd_count, fd, "read");
	case RCORE_SYSCALL_WRITE:
		return add(waits, wait, wait->fd_count, fd, "write");
	case RCORE_SYSCALL_POLL:
		return add_polled(waits, wait, call);
	case RCORE_SYSCALL_SELECT:
		return add_selected(waits, wait, call);
	default:
		return NULL;
	}
}

static bool is_set(struct rcore_waits *waits, uint64_t set, uint64_t limit)
{
	uint64_t word;
	if (!set || limit > RCORE_WAIT_FDS)
		return false;
	for (uint64_t i = 0; i < limit; i += 64)
		if (!rcore_read_u64(waits->loader->ruby->memory, set + i / 8, &word) && word)
			return true;
	return false;
}

bool rcore_wait_connects(struct rcore_waits *waits, const struct rcore_fiber *fiber)
{
	struct rcore_syscall call;
	struct poll_entry entry;
	if (!rcore_thread_syscall(waits->loader, fiber->thread, &call))
		return false;
	if (call.role == RCORE_SYSCALL_POLL)
		return !rcore_read(waits->loader->ruby->memory, call.arguments[0], &entry,
				   sizeof(entry)) &&
		       entry.events & POLL_WRITE;
	if (call.role == RCORE_SYSCALL_SELECT)
		return is_set(waits, call.arguments[2], call.arguments[0]);
	return call.role == RCORE_SYSCALL_WRITE;
}

/* The path of open(path, ...) or openat(folder, path, ...). */
static struct rcore_error *set_path(struct rcore_waits *waits, struct rcore_wait *wait,
				    const struct rcore_syscall *call)
{
	enum { LIMIT = 4096 };
	struct rcore_loader *loader = waits->loader;
	char path[LIMIT];
	uint64_t at = call->arguments[call->role == RCORE_SYSCALL_OPEN_AT];
	if (rcore_read_string(loader->ruby->memory, at, path, sizeof(path)))
		return NULL;
	wait->argument = rcore_arena_printf(&loader->snapshot->arena, "\"%s\"", path);
	return wait->argument ? NULL : rcore_error_no_memory();
}

static const enum rcore_wait_kind kinds[] = {
	[RCORE_SYSCALL_OPEN] = RCORE_WAIT_SYSCALL,
	[RCORE_SYSCALL_OPEN_AT] = RCORE_WAIT_SYSCALL,
	[RCORE_SYSCALL_OTHER] = RCORE_WAIT_SYSCALL,
	[RCORE_SYSCALL_READ] = RCORE_WAIT_IO,
	[RCORE_SYSCALL_WRITE] = RCORE_WAIT_IO,
	[RCORE_SYSCALL_EPOLL] = RCORE_WAIT_IO,
	[RCORE_SYSCALL_POLL] = RCORE_WAIT_IO,
	[RCORE_SYSCALL_SELECT] = RCORE_WAIT_IO,
	[RCORE_SYSCALL_WAIT] = RCORE_WAIT_PROCESS,
};

/*
 * Calls in which the VM waits for locks, sleeps and the like; other evidence
 * says more about those.
 */
static bool is_internal(const struct rcore_syscall *call)
{
	return !call->name || !strcmp(call->name, "futex") ||
	       !strcmp(call->name, "restart_syscall");
}

static struct rcore_error *complete(struct rcore_waits *waits, struct rcore_wait *wait,
				    const struct rcore_syscall *call)
{
	if (wait->kind == RCORE_WAIT_PROCESS && call->role == RCORE_SYSCALL_WAIT &&
	    !wait->has_pid) {
		wait->has_pid = true;
		wait->pid = (int)call->arguments[0];
	}
	if (wait->kind == RCORE_WAIT_SYSCALL && !wait->argument &&
	    (call->role == RCORE_SYSCALL_OPEN || call->role == RCORE_SYSCALL_OPEN_AT))
		return set_path(waits, wait, call);
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
