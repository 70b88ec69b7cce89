/* SPDX-License-Identifier: MIT */
#include "target/live/live_tracees.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/grow.h"
#include "target/live/live_files.h"

/* Threads that are gone, and zombies, run nothing. */
static bool has_ended(const struct rcore_tracees *tracees, int tid)
{
	char name[64];
	struct rcore_live_status status;
	snprintf(name, sizeof(name), "task/%d/status", tid);
	return !rcore_live_status_read(tracees->folder, name, &status) || status.state == 'Z' ||
	       status.state == 'X';
}

/* Returns false if the thread exists but cannot be traced. */
static bool note_refused(struct rcore_tracees *tracees, struct rcore_tracee *tracee)
{
	int errnum = errno;
	tracee->state = RCORE_TRACEE_ENDED;
	if (errnum == ESRCH || has_ended(tracees, tracee->tid))
		return true;
	tracees->errnum = errnum;
	return false;
}

static bool seize(void *context, int tid)
{
	struct rcore_tracees *tracees = context;
	if (rcore_address_map_get(&tracees->known, (uint64_t)tid) >= 0)
		return true;
	if (tracees->list.count >= RCORE_STOP_THREAD_LIMIT) {
		tracees->errnum = E2BIG;
		return false;
	}
	struct rcore_tracee *tracee = rcore_push(&tracees->list);
	if (!tracee || !rcore_address_map_put(&tracees->known, (uint64_t)tid,
					      (int)(tracees->list.count - 1))) {
		tracees->errnum = ENOMEM;
		return false;
	}
	tracee->tid = tid;
	tracee->sleeps = tracees->sleepers && rcore_live_sleeps(tracees->sleepers, tid);
	/*
	 * A thread that executes another program holds a lock for which this
	 * call waits, until all other threads are gone. Those that are being
	 * traced are gone only when rcore lets them go.
	 */
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	long refused = ptrace(PTRACE_SEIZE, tid, NULL, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return !refused || note_refused(tracees, tracee);
}

/* Seized threads still run, so seizing is not part of the pause. */
static bool interrupt(struct rcore_tracees *tracees, size_t first, bool sleeps)
{
	if (!tracees->begin)
		tracees->begin = rcore_clock_ns();
	for (size_t i = first; i < tracees->list.count; i++) {
		struct rcore_tracee *tracee = &tracees->list.items[i];
		if (tracee->sleeps != sleeps || tracee->state != RCORE_TRACEE_SEIZED)
			continue;
		tracee->is_interrupted = true;
		if (ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL) &&
		    !note_refused(tracees, tracee))
			return false;
	}
	return true;
}

/*
 * A stop that rcore did not cause is a signal on its way: it is delivered when
 * the thread is resumed.
 */
static void look(struct rcore_tracee *tracee)
{
	int status;
	pid_t tid = waitpid(tracee->tid, &status, __WALL | WNOHANG);
	if (!tid || (tid < 0 && errno == EINTR))
		return;
	if (tid < 0 || !WIFSTOPPED(status)) {
		tracee->state = RCORE_TRACEE_ENDED;
		return;
	}
	tracee->state = RCORE_TRACEE_HALTED;
	if (status >> 16 != PTRACE_EVENT_STOP)
		tracee->signal = WSTOPSIG(status);
}

static void read_registers(struct rcore_tracee *tracee)
{
	struct rcore_native_thread *ret = &tracee->thread;
	struct iovec set = {ret->registers, sizeof(ret->registers)};
	if (ptrace(PTRACE_GETREGSET, tracee->tid, NT_PRSTATUS, &set))
		return;
	ret->has_registers = true;
	ret->register_count = (int)(set.iov_len / sizeof(*ret->registers));
#ifdef __aarch64__
	uint64_t tls[2] = {0};
	set = (struct iovec){tls, sizeof(tls)};
	if (!ptrace(PTRACE_GETREGSET, tracee->tid, NT_ARM_TLS, &set))
		ret->thread_pointer = tls[0];
#else
	enum { FS_BASE = 21 };
	ret->thread_pointer = ret->registers[FS_BASE];
#endif
}

/* Reads registers while other threads have yet to stop. */
static void wait_until_halted(struct rcore_tracees *tracees)
{
	enum { FIRST_PAUSE = 20000, LAST_PAUSE = 40000 }; /* ns */
	uint64_t limit = tracees->begin + RCORE_STOP_WAIT_MS * UINT64_C(1000000);
	struct timespec pause = {.tv_nsec = FIRST_PAUSE};
	for (size_t i = 0; i < tracees->list.count;) {
		struct rcore_tracee *tracee = &tracees->list.items[i];
		bool is_awaited =
			tracee->state == RCORE_TRACEE_SEIZED && tracee->is_interrupted;
		if (is_awaited) {
			look(tracee);
			if (tracee->state == RCORE_TRACEE_HALTED)
				read_registers(tracee);
		}
		/* If one does not stop in time, others still may have. */
		if (!is_awaited || tracee->state != RCORE_TRACEE_SEIZED ||
		    rcore_clock_ns() > limit) {
			i++;
			continue;
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < LAST_PAUSE)
			pause.tv_nsec *= 2;
	}
}

static bool any_left(const struct rcore_tracees *tracees)
{
	for (size_t i = 0; i < tracees->list.count; i++)
		if (tracees->list.items[i].state != RCORE_TRACEE_ENDED)
			return true;
	return false;
}

static size_t count_halted(const struct rcore_tracees *tracees)
{
	size_t count = 0;
	for (size_t i = 0; i < tracees->list.count; i++)
		count += tracees->list.items[i].state == RCORE_TRACEE_HALTED;
	return count;
}

/*
 * Makes room for the threads that rcore_tracees_halt() returns, before any of
 * them is stopped. Writes to it, so that no page fault comes later.
 */
static bool make_room(struct rcore_tracees *tracees)
{
	if (tracees->begin || !tracees->list.count)
		return true;
	if (!rcore_reserve(&tracees->threads, tracees->list.count))
		return false;
	memset(tracees->threads.items, 0,
	       tracees->list.count * sizeof(*tracees->threads.items));
	return true;
}

static bool halt_those(struct rcore_tracees *tracees, size_t first, bool sleeps)
{
	if (!interrupt(tracees, first, sleeps))
		return false;
	wait_until_halted(tracees);
	return true;
}

/*
 * Running threads may start others until the last one has stopped. If the
 * process has as many threads as have stopped, there are no others.
 */
static int halt_all(struct rcore_tracees *tracees)
{
	size_t before, halted;
	do {
		before = tracees->list.count;
		int errnum = rcore_live_tasks(tracees->folder, seize, tracees);
		if (tracees->errnum || errnum)
			return tracees->errnum ? tracees->errnum : errnum;
		if (!make_room(tracees))
			return ENOMEM;
		if (!halt_those(tracees, before, true) || !halt_those(tracees, before, false))
			return tracees->errnum;
		halted = count_halted(tracees);
	} while (tracees->list.count > before &&
		 (!halted || halted != rcore_live_task_count(tracees->folder)));
	return any_left(tracees) ? 0 : ESRCH;
}

int rcore_tracees_halt(struct rcore_tracees *tracees)
{
	int errnum = halt_all(tracees);
	for (size_t i = 0; i < tracees->list.count && !errnum; i++) {
		const struct rcore_tracee *tracee = &tracees->list.items[i];
		if (tracee->state == RCORE_TRACEE_ENDED)
			continue;
		struct rcore_stopped_thread *thread = rcore_push(&tracees->threads);
		if (!thread)
			return ENOMEM;
		*thread = (struct rcore_stopped_thread){tracee->tid, tracee->thread};
	}
	return errnum;
}

static void release_those(struct rcore_tracees *tracees, bool sleeps)
{
	for (size_t i = 0; i < tracees->list.count; i++) {
		struct rcore_tracee *tracee = &tracees->list.items[i];
		if (tracee->sleeps != sleeps)
			continue;
		if (tracee->state == RCORE_TRACEE_SEIZED)
			look(tracee);
		if (tracee->state == RCORE_TRACEE_HALTED)
			ptrace(PTRACE_DETACH, tracee->tid, NULL,
			       (void *)(intptr_t)tracee->signal);
	}
}

void rcore_tracees_release(struct rcore_tracees *tracees)
{
	release_those(tracees, false);
	release_those(tracees, true);
	tracees->end = rcore_clock_ns();
}

void rcore_tracees_deinit(struct rcore_tracees *tracees)
{
	rcore_address_map_deinit(&tracees->known);
	free(tracees->list.items);
	free(tracees->threads.items);
}
