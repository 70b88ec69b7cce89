/* SPDX-License-Identifier: MIT */
#include "target/live/live_tracer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "target/live/live_files.h"

struct search {
	int folder, tracer;
};

static bool find_tracer(void *context, int tid)
{
	struct search *search = context;
	struct rcore_live_status status;
	char name[64];
	snprintf(name, sizeof(name), "task/%d/status", tid);
	if (rcore_live_status_read(search->folder, name, &status))
		search->tracer = status.tracer;
	return !search->tracer;
}

/* The kernel reports the thread that traces. */
static int process_of(int tid)
{
	struct rcore_live_status status;
	return rcore_live_status_of(tid, &status) && status.tgid ? status.tgid : tid;
}

int rcore_live_tracer(int folder)
{
	struct search search = {.folder = folder};
	rcore_live_tasks(folder, find_tracer, &search);
	return search.tracer ? process_of(search.tracer) : 0;
}

static bool is_rcore(int pid)
{
	struct rcore_live_status status;
	return rcore_live_status_of(pid, &status) && !strcmp(status.name, "rcore");
}

int rcore_live_stop_in_turn(int folder, const struct rcore_live_sleepers *sleepers,
			    unsigned limit, struct rcore_stop **ret)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	uint64_t end = rcore_clock_ns() +
		       (RCORE_STOP_LIMIT_MS + RCORE_STOP_WAIT_MS) * UINT64_C(1000000);
	bool was_traced = true;
	for (;;) {
		int errnum = rcore_stop_begin(folder, sleepers, limit, ret);
		if (errnum != EPERM || rcore_clock_ns() > end)
			return errnum;
		/* A tracer that detaches between the two calls is not found. */
		int tracer = rcore_live_tracer(folder);
		if (tracer ? !is_rcore(tracer) : !was_traced)
			return errnum;
		was_traced = tracer != 0;
		nanosleep(&pause, NULL);
	}
}
