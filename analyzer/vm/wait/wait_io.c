/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "vm/wait/wait_private.h"

/*
 * Up to 3.4, the VM has a ring of all threads that are inside a call on a file
 * descriptor (vm->waiting_fds, so that IO#close can wake them;
 * rb_thread_io_blocking_region() of thread.c). From 3.3 on,
 * sched.waiting_reason says what an M:N thread that gave up its native thread
 * waits for (thread_pthread_mn.c).
 */
static struct rcore_error *add(struct rcore_waits *waits, int fiber, int fd, const char *mode)
{
	if (fiber < 0 || waits->loader->fibers.items[fiber].wait ||
	    !rcore_wait_is_blocked(waits, &waits->loader->fibers.items[fiber]))
		return NULL;
	struct rcore_wait *wait = rcore_wait_new(waits, fiber, RCORE_WAIT_IO, RCORE_WAIT_BY_VM);
	return wait ? rcore_wait_add_fd(waits, wait, fd, mode, 0) : rcore_error_no_memory();
}

static struct rcore_error *waiting_fds(struct rcore_waits *waits)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_layout *layout = loader->ruby->layout;
	struct rcore_error *err = NULL;
	uint64_t *entries;
	size_t count;
	if (!rcore_has(&layout->vm.waiting_fds))
		return NULL;
	rcore_wait_problem(
		waits,
		rcore_error_wrap(rcore_wait_list(waits, loader->vm, &layout->vm.waiting_fds,
						 &layout->waiting_fd.node, &entries, &count),
				 "threads that wait for IO"));
	for (size_t i = 0; !err && i < count; i++) {
		int fiber = rcore_wait_fiber(
			waits, rcore_wait_field(waits, entries[i], &layout->waiting_fd.th), 0);
		err = add(waits, fiber,
			  (int32_t)rcore_wait_field(waits, entries[i], &layout->waiting_fd.fd),
			  NULL);
	}
	free(entries);
	return err;
}

/* enum thread_sched_waiting_flag of thread_pthread.h */
enum { WAITING_IO_READ = 0x02, WAITING_IO_WRITE = 0x08 };

static struct rcore_error *waiting_reason(struct rcore_waits *waits,
					  const struct rcore_thread *thread)
{
	const struct rcore_layout *layout = waits->loader->ruby->layout;
	uint64_t flags =
		rcore_wait_field(waits, thread->address, &layout->thread.waiting_flags);
	if (!(flags & (WAITING_IO_READ | WAITING_IO_WRITE)))
		return NULL;
	return add(
		waits, thread->current_fiber,
		(int32_t)rcore_wait_field(waits, thread->address, &layout->thread.waiting_fd),
		flags & WAITING_IO_READ ? "read" : "write");
}

struct rcore_error *rcore_wait_io(struct rcore_waits *waits)
{
	const struct rcore_loader *loader = waits->loader;
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < loader->threads.count; i++)
		if (!loader->threads.items[i].is_ended)
			err = waiting_reason(waits, &loader->threads.items[i]);
	return err ? err : waiting_fds(waits);
}
