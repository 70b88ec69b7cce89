/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/second_thread.h"
#include "target/live/live_explain.h"
#include "target/live/live_priority.h"
#include "target/live/live_private.h"
#include "target/live/live_tracer.h"

/*
 * Ruby knows its threads by the ids in its own namespace. Returns 0 for one
 * that has ended.
 */
static int inner_id(const struct rcore_live *live, int tid)
{
	char name[64];
	struct rcore_live_status status;
	if (!live->status.depth)
		return tid;
	for (size_t i = 0; i < live->ids.count; i++)
		if (live->ids.items[i].outer == tid)
			return live->ids.items[i].inner;
	snprintf(name, sizeof(name), "task/%d/status", tid);
	return rcore_live_status_read(live->folder, name, &status) ? status.inner_id : 0;
}

static bool note_id(void *context, int tid)
{
	struct rcore_live *live = context;
	int inner = inner_id(live, tid);
	struct rcore_live_id *id = rcore_push(&live->ids);
	if (id)
		*id = (struct rcore_live_id){tid, inner};
	return id != NULL;
}

/* A thread that was created since all were noted is not. */
static bool is_noted(const struct rcore_live *live, int tid)
{
	for (size_t i = 0; i < live->ids.count; i++)
		if (live->ids.items[i].outer == tid)
			return true;
	return false;
}

/* Whether a signal or a debugger has stopped the thread. */
static bool is_halted(const struct rcore_live_status *status)
{
	return status->state == 'T' || status->state == 't';
}

int rcore_live_outer_tid(const struct rcore_live *live, int tid)
{
	if (!live->status.depth)
		return tid;
	for (size_t i = 0; tid && i < live->ids.count; i++)
		if (live->ids.items[i].inner == tid)
			return live->ids.items[i].outer;
	return 0;
}

bool rcore_live_waits(const struct rcore_live *live, int tid, uint64_t *ret)
{
	char name[64];
	struct rcore_live_status status;
	int outer = rcore_live_outer_tid(live, tid);
	snprintf(name, sizeof(name), "task/%d/status", outer);
	if (outer <= 0 || !rcore_live_status_read(live->folder, name, &status) ||
	    is_halted(&status))
		return false;
	*ret = status.waits;
	return true;
}

struct all_waits {
	const struct rcore_live *live;
	struct rcore_live_thread_waits *items;
	size_t count, limit;
};

/* False ends the walk. */
static bool note_waits(void *context, int tid)
{
	struct all_waits *all = context;
	struct rcore_live_status status;
	char name[64];
	if (all->count == all->limit) {
		all->count = 0;
		return false;
	}
	snprintf(name, sizeof(name), "task/%d/status", tid);
	if (rcore_live_status_read(all->live->folder, name, &status) && !is_halted(&status))
		all->items[all->count++] = (struct rcore_live_thread_waits){
			all->live->status.depth ? status.inner_id : tid, status.waits};
	return true;
}

size_t rcore_live_all_waits(const struct rcore_live *live, struct rcore_live_thread_waits *ret,
			    size_t limit)
{
	struct all_waits all = {live, ret, 0, limit};
	rcore_live_tasks(live->folder, note_waits, &all);
	return all.count;
}

static bool add_thread(struct rcore_live *live, int tid, const struct rcore_native_thread *from)
{
	struct rcore_native_thread *thread = rcore_push(&live->threads);
	if (!thread || (live->status.depth && !is_noted(live, tid) && !note_id(live, tid)))
		return false;
	if (from)
		*thread = *from;
	thread->tid = inner_id(live, tid);
	live->process.threads = live->threads.items;
	live->process.thread_count = live->threads.count;
	return true;
}

static struct rcore_error *list_running(struct rcore_live *live)
{
	for (size_t i = 0; i < live->ids.count; i++)
		if (live->ids.items[i].inner &&
		    !add_thread(live, live->ids.items[i].outer, NULL))
			return rcore_error_no_memory();
	return NULL;
}

static struct rcore_error *stop_process(struct rcore_live *live)
{
	int errnum = live->never_waits ? rcore_stop_begin(live->folder, &live->sleepers,
							  live->most, &live->stop)
				       : rcore_live_stop_in_turn(live->folder, &live->sleepers,
								 live->most, &live->stop);
	if (errnum)
		return rcore_live_explain(live->pid, live->folder, errnum);
	live->memory.stop = live->stop;
	size_t count;
	const struct rcore_stopped_thread *threads = rcore_stop_threads(live->stop, &count);
	for (size_t i = 0; i < count; i++)
		if (!add_thread(live, threads[i].tid, &threads[i].thread))
			return rcore_error_no_memory();
	return NULL;
}

void rcore_live_limit(struct rcore_live *live, unsigned milliseconds)
{
	live->most = milliseconds;
}

void rcore_live_never_wait(struct rcore_live *live)
{
	live->never_waits = true;
}

void rcore_live_read_late(struct rcore_live *live, bool reads_late)
{
	live->memory.reads_late = reads_late;
}

static uint64_t let_go(struct rcore_live *live)
{
	uint64_t nanoseconds = rcore_stop_end(live->stop);
	live->stop = live->memory.stop = NULL;
	rcore_standby_stop(live->memory.standby);
	live->memory.standby = NULL;
	return nanoseconds;
}

/* Starts a second thread before the process is stopped. */
static void prepare_standby(struct rcore_live *live)
{
	pthread_attr_t urgent;
	if (!rcore_has_processors())
		return;
	rcore_priority_attributes(&urgent);
	live->memory.standby = rcore_standby_start(&urgent);
	live->memory.is_urgent = live->memory.standby;
	if (!live->memory.standby)
		live->memory.standby = rcore_standby_start(NULL);
	pthread_attr_destroy(&urgent);
}

void rcore_live_visit_sleeping(const struct rcore_live *live,
			       void (*visit)(void *context, uint64_t sp), void *context)
{
	rcore_live_sleeping_stacks(live->folder, visit, context);
}

void rcore_live_note_sleepers(struct rcore_live *live)
{
	rcore_live_sleepers_note(&live->sleepers, live->folder);
}

/*
 * Threads must be noted before the copy: if they have slept since then, the
 * memory is still as it was copied.
 */
struct rcore_error *rcore_live_copy_ahead(struct rcore_live *live)
{
	if (!rcore_live_pages_rewind(&live->pages))
		return rcore_error_no_memory();
	if (!live->sleepers.count)
		rcore_live_note_sleepers(live);
	live->copied_ns = rcore_clock_ns();
	rcore_live_pages_fill(&live->pages);
	rcore_live_pages_compare(&live->pages);
	live->is_ahead = true;
	return NULL;
}

bool rcore_live_is_quiet(const struct rcore_live *live)
{
	return live->is_quiet;
}

bool rcore_live_has_thread_slept(const struct rcore_live *live, int tid)
{
	size_t count = 0;
	const struct rcore_stopped_thread *threads =
		live->stop ? rcore_stop_threads(live->stop, &count) : NULL;
	/* stop_process() adds live->threads in the order of these. */
	for (size_t i = 0; tid && i < count && i < live->threads.count; i++)
		if (live->threads.items[i].tid == tid)
			return rcore_live_has_slept(&live->sleepers, live->process.machine,
						    threads[i].tid, &threads[i].thread);
	return false;
}

uint64_t rcore_live_copy_age(const struct rcore_live *live)
{
	return live->stopped_ns - live->copied_ns;
}

/* Checks first what costs no system call: one thread that has run is enough. */
static bool have_all_slept(const struct rcore_live *live)
{
	size_t count;
	for (size_t i = 0; i < live->sleepers.count; i++)
		if (!live->sleepers.items[i].sleeps)
			return false;
	const struct rcore_stopped_thread *threads = rcore_stop_threads(live->stop, &count);
	for (size_t i = 0; i < count; i++)
		if (!rcore_live_has_slept(&live->sleepers, live->process.machine,
					  threads[i].tid, &threads[i].thread))
			return false;
	return count == live->sleepers.count;
}

/*
 * Lets fill() read again what rcore_live_copy_ahead() copied, unless it cannot
 * have changed.
 */
static void repeat_copy(struct rcore_live *live)
{
	live->is_quiet = live->stop && have_all_slept(live);
	if (!live->is_quiet)
		rcore_live_pages_again(&live->pages);
}

struct rcore_error *rcore_live_begin(struct rcore_live *live, bool stop)
{
	bool is_ahead = live->is_ahead;
	live->ids.count = live->threads.count = live->process.thread_count = 0;
	live->is_ahead = live->is_quiet = false;
	live->memory.is_released = live->memory.is_overdue = false;
	if (!is_ahead && !rcore_live_pages_rewind(&live->pages))
		return rcore_error_no_memory();
	if (!stop || live->status.depth) {
		int errnum = rcore_live_tasks(live->folder, note_id, live);
		if (errnum)
			return rcore_live_explain(live->pid, live->folder, errnum);
	}
	if (is_ahead)
		rcore_live_sleepers_check(&live->sleepers);
	if (is_ahead && stop)
		prepare_standby(live);
	struct rcore_error *err = stop ? stop_process(live) : list_running(live);
	if (err) {
		let_go(live);
		rcore_live_sleepers_clear(&live->sleepers);
		return err;
	}
	live->stopped_ns = rcore_clock_ns();
	if (is_ahead)
		repeat_copy(live);
	rcore_live_pages_fill(&live->pages);
	return NULL;
}

static void measure(struct rcore_live *live, struct rcore_live_pause *ret)
{
	ret->overdue = !rcore_stop_is_held(live->stop);
	for (size_t i = 0; i < live->threads.count; i++)
		if (live->threads.items[i].has_registers)
			ret->thread_count++;
		else
			ret->unstopped_count++;
	ret->nanoseconds = let_go(live);
}

void rcore_live_release(struct rcore_live *live, struct rcore_live_pause *ret)
{
	*ret = (struct rcore_live_pause){0};
	rcore_live_pages_fill(&live->pages);
	if (!live->stop)
		return;
	measure(live, ret);
	rcore_live_sleepers_clear(&live->sleepers);
	live->memory.late_count = live->memory.allowed_count = 0;
	live->memory.is_released = true;
	live->memory.is_overdue = ret->overdue;
	if (ret->overdue && !live->memory.reads_late)
		rcore_live_pages_freeze(&live->pages);
}

void rcore_live_allow_late(struct rcore_live *live, bool allow)
{
	if (live)
		live->memory.allows_late = allow;
}

bool rcore_live_has_missed(const struct rcore_live *live)
{
	return live->memory.late_count > live->memory.allowed_count;
}

void rcore_live_end(struct rcore_live *live, struct rcore_live_pause *ret)
{
	*ret = (struct rcore_live_pause){0};
	rcore_live_pages_fill(&live->pages);
	rcore_live_pages_freeze(&live->pages);
	live->memory.is_released = false;
	if (live->stop)
		measure(live, ret);
	rcore_live_sleepers_clear(&live->sleepers);
}
