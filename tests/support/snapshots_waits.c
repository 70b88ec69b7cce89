/* SPDX-License-Identifier: MIT */
#include "snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "triage/deadlock.h"
#include "triage/summary.h"
#include "triage/workers.h"

enum { THREADS = 20, FIBERS = THREADS + 4 };

static struct rcore_wait_fd pipe_fds[] = {{.fd = 5, .mode = "read"}};
static struct rcore_wait_fd many_fds[] = {
	{.fd = 7, .mode = "read", .link = "socket:[99] TCP 127.0.0.1:80 listens"},
	{.fd = 8, .mode = "write", .path = "/tmp/\x1b[31m\xff"},
	{.fd = 7, .mode = "except"},
	{.fd = 9},
};

#define NOBODY                            \
	{                                 \
		.thread = -1, .fiber = -1 \
	}

/*
 * One of each kind, for the fiber of each thread in turn. Owners are indices of
 * fibers here.
 */
static const struct rcore_wait kinds[] = {
	{.kind = RCORE_WAIT_MUTEX,
	 .object = 0x7f10,
	 .lock = 0x5510,
	 .owner = {2, 2, 0},
	 .thread = -1,
	 .method = "Thread::Mutex#lock"},
	{.kind = RCORE_WAIT_MONITOR,
	 .object = 0x7f20,
	 .lock = 0x5520,
	 .owner = {1, 1, 0},
	 .thread = -1,
	 .method = "Monitor#enter"},
	{.kind = RCORE_WAIT_MUTEX,
	 .object = 0x7f30,
	 .lock = 0x5530,
	 .owner = NOBODY,
	 .thread = -1},
	{.kind = RCORE_WAIT_POP,
	 .object = 0x7f40,
	 .owner = NOBODY,
	 .thread = -1,
	 .has_counts = true,
	 .waiting = 2,
	 .method = "Thread::Queue#pop"},
	{.kind = RCORE_WAIT_PUSH,
	 .object = 0x7f50,
	 .owner = NOBODY,
	 .thread = -1,
	 .has_counts = true,
	 .length = 3,
	 .max = 3,
	 .waiting = 1},
	{.kind = RCORE_WAIT_CONDITION,
	 .object = 0x7f60,
	 .lock = 0x5560,
	 .owner = NOBODY,
	 .thread = -1},
	{.kind = RCORE_WAIT_JOIN,
	 .object = 0x7f70,
	 .owner = NOBODY,
	 .thread = 0,
	 .is_timed = true},
	{.kind = RCORE_WAIT_SLEEP,
	 .source = RCORE_WAIT_BY_FRAME,
	 .owner = NOBODY,
	 .thread = -1,
	 .is_timed = true,
	 .argument = "(1/2)\x1b]0;x\x07",
	 .method = "Kernel#sleep"},
	{.kind = RCORE_WAIT_SLEEP,
	 .source = RCORE_WAIT_BY_FRAME,
	 .owner = NOBODY,
	 .thread = -1,
	 .method = "Kernel#sleep"},
	{.kind = RCORE_WAIT_STOP,
	 .source = RCORE_WAIT_BY_FRAME,
	 .owner = NOBODY,
	 .thread = -1,
	 .method = "Thread.stop"},
	{.kind = RCORE_WAIT_IO,
	 .owner = NOBODY,
	 .thread = -1,
	 .fds = pipe_fds,
	 .fd_count = 1,
	 .method = "IO#read"},
	{.kind = RCORE_WAIT_IO,
	 .source = RCORE_WAIT_BY_FRAME,
	 .owner = NOBODY,
	 .thread = -1,
	 .fds = many_fds,
	 .fd_count = 4,
	 .is_timed = true,
	 .argument = "10",
	 .method = "IO.select"},
	{.kind = RCORE_WAIT_PROCESS,
	 .source = RCORE_WAIT_BY_FRAME,
	 .owner = NOBODY,
	 .thread = -1,
	 .has_pid = true,
	 .pid = 4321,
	 .method = "Process.wait"},
	{.kind = RCORE_WAIT_PROCESS,
	 .source = RCORE_WAIT_BY_SYSCALL,
	 .owner = NOBODY,
	 .thread = -1,
	 .has_pid = true,
	 .pid = -1},
	{.kind = RCORE_WAIT_RACTOR,
	 .source = RCORE_WAIT_BY_FRAME,
	 .owner = NOBODY,
	 .thread = -1,
	 .ractor = 3,
	 .method = "Ractor#take"},
	{.kind = RCORE_WAIT_GVL, .owner = {0, -1, 0}, .thread = -1},
	{.kind = RCORE_WAIT_SYSCALL,
	 .source = RCORE_WAIT_BY_SYSCALL,
	 .owner = NOBODY,
	 .thread = -1,
	 .syscall = "flock",
	 .method = "File#flock"},
	{.kind = RCORE_WAIT_MUTEX,
	 .object = 0x7f80,
	 .lock = 0x5580,
	 .owner = {0, 20, 0},
	 .thread = -1},
	{.kind = RCORE_WAIT_MUTEX,
	 .object = 0x7f90,
	 .lock = 0x5590,
	 .owner = {0, -1, 0xdead},
	 .thread = -1},
};
_Static_assert(RCORE_COUNT(kinds) == THREADS - 1, "a thread for each");

static void add(struct rcore_snapshot *snapshot, int thread, bool is_current,
		enum rcore_fiber_status status, const struct rcore_wait *wait)
{
	struct rcore_thread *owner = &snapshot->threads[thread];
	size_t index = snapshot->fiber_count++;
	struct rcore_fiber *fiber = &snapshot->fibers[index];
	snprintf(fiber->id, sizeof(fiber->id), "%s.F%zu", owner->id, owner->fiber_count);
	fiber->address = 0x600000 + index * 0x100;
	fiber->thread = thread;
	fiber->is_current = is_current;
	fiber->is_root = !owner->fiber_count;
	fiber->status = status;
	fiber->resumed_by = fiber->resuming = fiber->group = -1;
	owner->fibers[owner->fiber_count++] = (int)index;
	if (is_current)
		owner->current_fiber = (int)index;
	if (!wait)
		return;
	fiber->wait = rcore_arena_alloc(&snapshot->arena, sizeof(*wait));
	if (!fiber->wait)
		abort();
	memcpy(fiber->wait, wait, sizeof(*wait));
}

static const struct rcore_wait parked[] = {
	{.kind = RCORE_WAIT_SCHEDULER,
	 .source = RCORE_WAIT_BY_FRAME,
	 .hook = "address_resolve",
	 .owner = NOBODY,
	 .thread = -1},
	{.kind = RCORE_WAIT_POP,
	 .object = 0x7f40,
	 .hook = "block",
	 .owner = NOBODY,
	 .thread = -1,
	 .has_counts = true,
	 .waiting = 2},
};

void rcore_test_waits(struct rcore_snapshot *snapshot)
{
	static const char *const names[THREADS] = {[1] = "worker \x1b[2J", [2] = "\xff"};
	*snapshot = (struct rcore_snapshot){.source = "core", .ruby_version = "3.4.0"};
	snapshot->cause.thread = snapshot->cause.fiber = -1;
	snapshot->threads =
		rcore_arena_alloc(&snapshot->arena, THREADS * sizeof(*snapshot->threads));
	snapshot->fibers =
		rcore_arena_alloc(&snapshot->arena, FIBERS * sizeof(*snapshot->fibers));
	snapshot->locks = rcore_arena_alloc(&snapshot->arena, 3 * sizeof(*snapshot->locks));
	int *ids = rcore_arena_alloc(&snapshot->arena, THREADS * FIBERS * sizeof(int));
	if (!snapshot->threads || !snapshot->fibers || !snapshot->locks || !ids)
		abort();
	snapshot->thread_count = THREADS;
	for (int i = 0; i < THREADS; i++) {
		struct rcore_thread *thread = &snapshot->threads[i];
		snprintf(thread->id, sizeof(thread->id), "T%d", i + 1);
		thread->fibers = &ids[i * FIBERS];
		thread->name = names[i];
		thread->is_main = i == 0;
		thread->ractor = -1;
		thread->gvl = i ? RCORE_GVL_RELEASED : RCORE_GVL_HOLDER;
		thread->status = i ? RCORE_THREAD_STOPPED : RCORE_THREAD_RUNNABLE;
		add(snapshot, i, true, RCORE_FIBER_RESUMED, i ? &kinds[i - 1] : NULL);
	}
	/* Where T6 waits. */
	static struct rcore_frame pushing[] = {
		{.kind = RCORE_FRAME_CFUNC, .label = "Thread::SizedQueue#push"},
		{.label = "Shop#\x1b[7m", .path = "app/shop.rb", .line = 12}};
	snapshot->fibers[5].frames = pushing;
	snapshot->fibers[5].frame_count = 2;
	add(snapshot, 0, false, RCORE_FIBER_TERMINATED, NULL);
	add(snapshot, 0, false, RCORE_FIBER_SUSPENDED, NULL);
	add(snapshot, 0, false, RCORE_FIBER_SUSPENDED, &parked[0]);
	add(snapshot, 0, false, RCORE_FIBER_SUSPENDED, &parked[1]);

	static int wanted_by_first[] = {1}, wanted_by_second[] = {2};
	snapshot->lock_count = 3;
	snapshot->locks[0] = (struct rcore_lock){.address = 0x5510,
						 .object = 0x7f10,
						 .owner = {2, 2, 0},
						 .waiters = wanted_by_first,
						 .waiter_count = 1};
	snapshot->locks[1] = (struct rcore_lock){.kind = RCORE_LOCK_MONITOR,
						 .address = 0x5520,
						 .object = 0x7f20,
						 .count = 2,
						 .owner = {1, 1, 0},
						 .waiters = wanted_by_second,
						 .waiter_count = 1};
	snapshot->locks[2] = (struct rcore_lock){
		.address = 0x55a0, .owner = {3, 3, 0}, .problem = "who waits: \x1b[1mnothing"};
	snapshot->wait_problem = "who waits for the GVL: \x1b[1m";
	rcore_idle_threads_find(snapshot);
	if (rcore_deadlocks_find(snapshot) || rcore_thread_groups_find(snapshot, false) ||
	    rcore_summary_find(snapshot))
		abort();
}
