/* SPDX-License-Identifier: MIT */
#include "target/live/live_rest.h"

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
 * schedstat has three numbers: time on a processor, time spent waiting for one,
 * and how often it got one. All are 0 if this kernel does not count.
 */
static bool read_arrivals(int file, uint64_t *ret)
{
	char text[128];
	ssize_t size = pread(file, text, sizeof(text) - 1, 0);
	if (size <= 0)
		return false;
	text[size] = '\0';
	return sscanf(text, "%*u %*u %" SCNu64, ret) == 1 && *ret;
}

/*
 * proc_pid_syscall(5): "running", "-1 SP PC" (it sleeps, but in no system
 * call), or the number, six arguments, SP and PC.
 */
static bool read_call(int folder, int tid, uint64_t *ret_sp, uint64_t *ret_pc)
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
	return sscanf(text, "%*u %*x %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, ret_sp,
		      ret_pc) == 2;
}

static bool read_waits(int folder, int tid, uint64_t *ret)
{
	char name[64];
	struct rcore_live_status status;
	snprintf(name, sizeof(name), "task/%d/status", tid);
	if (!rcore_live_status_read(folder, name, &status))
		return false;
	*ret = status.waits;
	return true;
}

static int open_arrivals(int folder, int tid)
{
	char name[64];
	snprintf(name, sizeof(name), "task/%d/schedstat", tid);
	return openat(folder, name, O_RDONLY | O_CLOEXEC);
}

/*
 * It sleeps in the call from the first count to the second one if these are the
 * same: otherwise it would have got a processor.
 */
static bool note(void *context, int tid)
{
	struct rcore_live_rest *rest = context;
	uint64_t before;
	struct rcore_live_sleeper *sleeper = rcore_push(rest);
	if (!sleeper)
		return false;
	int file = open_arrivals(rest->folder, tid);
	*sleeper = (struct rcore_live_sleeper){.tid = tid, .file = file};
	sleeper->sleeps = file >= 0 && read_arrivals(file, &before) &&
			  read_waits(rest->folder, tid, &sleeper->waits) &&
			  read_call(rest->folder, tid, &sleeper->sp, &sleeper->pc) &&
			  read_arrivals(file, &sleeper->arrivals) &&
			  before == sleeper->arrivals;
	if (file >= 0 && (!sleeper->sleeps || rest->count > RCORE_LIVE_REST_FILES)) {
		close(file);
		sleeper->file = -1;
	}
	return true;
}

static int by_tid(const void *left, const void *right)
{
	const struct rcore_live_sleeper *a = left, *b = right;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

void rcore_live_rest_note(struct rcore_live_rest *rest, int folder)
{
	rcore_live_rest_clear(rest);
	rest->folder = folder;
	if (rcore_live_tasks(folder, note, rest))
		rcore_live_rest_clear(rest);
	else if (rest->count)
		qsort(rest->items, rest->count, sizeof(*rest->items), by_tid);
}

static bool count_arrivals(const struct rcore_live_rest *rest,
			   const struct rcore_live_sleeper *sleeper, uint64_t *ret)
{
	if (sleeper->file >= 0)
		return read_arrivals(sleeper->file, ret);
	int file = open_arrivals(rest->folder, sleeper->tid);
	bool is_read = file >= 0 && read_arrivals(file, ret);
	if (file >= 0)
		close(file);
	return is_read;
}

void rcore_live_rest_confirm(struct rcore_live_rest *rest)
{
	uint64_t arrivals;
	for (size_t i = 0; i < rest->count; i++) {
		struct rcore_live_sleeper *sleeper = &rest->items[i];
		sleeper->sleeps = sleeper->sleeps && count_arrivals(rest, sleeper, &arrivals) &&
				  arrivals == sleeper->arrivals;
	}
}

/* The thread is stopped, so both counts include that. */
static bool has_slept(const struct rcore_live_rest *rest,
		      const struct rcore_live_sleeper *sleeper)
{
	uint64_t arrivals, waits;
	return (count_arrivals(rest, sleeper, &arrivals) &&
		arrivals - sleeper->arrivals <= 1) ||
	       (read_waits(rest->folder, sleeper->tid, &waits) && waits - sleeper->waits <= 1);
}

bool rcore_live_has_rested(const struct rcore_live_rest *rest, unsigned machine, int tid,
			   const struct rcore_native_thread *thread)
{
	const struct rcore_live_sleeper wanted = {.tid = tid};
	const struct rcore_live_sleeper *sleeper =
		rest->count ? bsearch(&wanted, rest->items, rest->count, sizeof(wanted), by_tid)
			    : NULL;
	return sleeper && sleeper->sleeps && rcore_syscall_is_interrupted(machine, thread) &&
	       thread->registers[rcore_register_sp(machine)] == sleeper->sp &&
	       thread->registers[rcore_register_pc(machine)] == sleeper->pc &&
	       has_slept(rest, sleeper);
}

void rcore_live_rest_clear(struct rcore_live_rest *rest)
{
	for (size_t i = 0; i < rest->count; i++)
		if (rest->items[i].file >= 0)
			close(rest->items[i].file);
	free(rest->items);
	*rest = (struct rcore_live_rest){0};
}
