/* SPDX-License-Identifier: MIT */
#include "target/live/live_sleepers.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "target/live/live_files.h"
#include "target/live/syscall.h"

/*
 * task/TID/schedstat has three numbers: the time on a processor, the time spent
 * waiting for one, and the number of timeslices. All are 0 if the kernel does
 * not count them.
 */
static bool read_timeslices(int file, uint64_t *ret)
{
	char text[128];
	ssize_t size = pread(file, text, sizeof(text) - 1, 0);
	if (size <= 0)
		return false;
	text[size] = '\0';
	return sscanf(text, "%*u %*u %" SCNu64, ret) == 1 && *ret;
}

/*
 * task/TID/syscall (proc_pid_syscall(5)) is "running", "-1 SP PC" if the thread
 * sleeps but not in a system call, or else the number of the call, its six
 * arguments, SP and PC.
 */
static bool read_call(int folder, int tid, bool is_stopped, uint64_t *ret_sp, uint64_t *ret_pc)
{
	char name[64], text[256];
	snprintf(name, sizeof(name), "task/%d/syscall", tid);
	int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	ssize_t size = read(file, text, sizeof(text) - 1);
	close(file);
	if (size <= 0)
		return false;
	text[size] = '\0';
	if (is_stopped && sscanf(text, "-1 %" SCNx64 " %" SCNx64, ret_sp, ret_pc) == 2)
		return true;
	return sscanf(text, "%*u %*x %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, ret_sp,
		      ret_pc) == 2;
}

static bool read_waits(int folder, int tid, uint64_t *ret, bool *ret_is_stopped)
{
	char name[64];
	struct rcore_live_status status;
	snprintf(name, sizeof(name), "task/%d/status", tid);
	if (!rcore_live_status_read(folder, name, &status))
		return false;
	*ret = status.waits;
	*ret_is_stopped = status.state == 'T';
	return true;
}

static int open_timeslices(int folder, int tid)
{
	char name[64];
	snprintf(name, sizeof(name), "task/%d/schedstat", tid);
	return openat(folder, name, O_RDONLY | O_CLOEXEC);
}

/*
 * The thread slept while the other files were read if it got no timeslice from
 * the first count to the second.
 */
static bool note(void *context, int tid)
{
	struct rcore_live_sleepers *sleepers = context;
	uint64_t before;
	struct rcore_live_sleeper *sleeper = rcore_push(sleepers);
	if (!sleeper)
		return false;
	int file = open_timeslices(sleepers->folder, tid);
	*sleeper = (struct rcore_live_sleeper){.tid = tid, .file = file};
	sleeper->sleeps =
		file >= 0 && read_timeslices(file, &before) &&
		read_waits(sleepers->folder, tid, &sleeper->waits, &sleeper->is_stopped) &&
		read_call(sleepers->folder, tid, sleeper->is_stopped, &sleeper->sp,
			  &sleeper->pc) &&
		read_timeslices(file, &sleeper->timeslices) && before == sleeper->timeslices;
	if (file >= 0 && (!sleeper->sleeps || sleepers->count > RCORE_LIVE_SLEEPER_FILES)) {
		close(file);
		sleeper->file = -1;
	}
	return true;
}

struct stacks {
	int folder;
	void (*visit)(void *context, uint64_t sp);
	void *context;
};

static bool visit_stack(void *context, int tid)
{
	const struct stacks *stacks = context;
	uint64_t sp, pc;
	if (read_call(stacks->folder, tid, false, &sp, &pc))
		stacks->visit(stacks->context, sp);
	return true;
}

void rcore_live_sleeping_stacks(int folder, void (*visit)(void *context, uint64_t sp),
				void *context)
{
	struct stacks stacks = {folder, visit, context};
	rcore_live_tasks(folder, visit_stack, &stacks);
}

static int by_tid(const void *left, const void *right)
{
	const struct rcore_live_sleeper *a = left, *b = right;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

void rcore_live_sleepers_note(struct rcore_live_sleepers *sleepers, int folder)
{
	rcore_live_sleepers_clear(sleepers);
	sleepers->folder = folder;
	if (rcore_live_tasks(folder, note, sleepers))
		rcore_live_sleepers_clear(sleepers);
	else if (sleepers->count)
		qsort(sleepers->items, sleepers->count, sizeof(*sleepers->items), by_tid);
}

static bool count_timeslices(const struct rcore_live_sleepers *sleepers,
			     const struct rcore_live_sleeper *sleeper, uint64_t *ret)
{
	if (sleeper->file >= 0)
		return read_timeslices(sleeper->file, ret);
	int file = open_timeslices(sleepers->folder, sleeper->tid);
	bool is_read = file >= 0 && read_timeslices(file, ret);
	if (file >= 0)
		close(file);
	return is_read;
}

void rcore_live_sleepers_check(struct rcore_live_sleepers *sleepers)
{
	uint64_t timeslices;
	for (size_t i = 0; i < sleepers->count; i++) {
		struct rcore_live_sleeper *sleeper = &sleepers->items[i];
		sleeper->sleeps = sleeper->sleeps &&
				  count_timeslices(sleepers, sleeper, &timeslices) &&
				  timeslices == sleeper->timeslices;
	}
}

/* To stop, the thread itself had to wake, run and wait, once each. */
static bool has_not_run(const struct rcore_live_sleepers *sleepers,
			const struct rcore_live_sleeper *sleeper)
{
	uint64_t timeslices, waits;
	bool ignored;
	return (count_timeslices(sleepers, sleeper, &timeslices) &&
		timeslices - sleeper->timeslices <= 1) ||
	       (read_waits(sleepers->folder, sleeper->tid, &waits, &ignored) &&
		waits - sleeper->waits <= 1);
}

static const struct rcore_live_sleeper *find(const struct rcore_live_sleepers *sleepers,
					     int tid)
{
	const struct rcore_live_sleeper wanted = {.tid = tid};
	return sleepers->count ? bsearch(&wanted, sleepers->items, sleepers->count,
					 sizeof(wanted), by_tid)
			       : NULL;
}

bool rcore_live_sleeps(const struct rcore_live_sleepers *sleepers, int tid)
{
	const struct rcore_live_sleeper *sleeper = find(sleepers, tid);
	return sleeper && sleeper->sleeps;
}

bool rcore_live_has_slept(const struct rcore_live_sleepers *sleepers, unsigned machine, int tid,
			  const struct rcore_native_thread *thread)
{
	const struct rcore_live_sleeper *sleeper = find(sleepers, tid);
	return sleeper && sleeper->sleeps &&
	       (sleeper->is_stopped || rcore_syscall_is_interrupted(machine, thread)) &&
	       thread->registers[rcore_register_sp(machine)] == sleeper->sp &&
	       thread->registers[rcore_register_pc(machine)] == sleeper->pc &&
	       has_not_run(sleepers, sleeper);
}

void rcore_live_sleepers_clear(struct rcore_live_sleepers *sleepers)
{
	for (size_t i = 0; i < sleepers->count; i++)
		if (sleepers->items[i].file >= 0)
			close(sleepers->items[i].file);
	free(sleepers->items);
	*sleepers = (struct rcore_live_sleepers){0};
}
