/* SPDX-License-Identifier: MIT */
#include "target/live/live_halves.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "target/live/live_priority.h"

/* To start a thread takes as long as to read some 100 KB. */
enum { LEAST = 1 << 20 };

struct half {
	struct rcore_live_memory memory;
	size_t from, to;
	rcore_live_half *read;
	void *context;
};

static void *run(void *argument)
{
	struct half *half = argument;
	half->read(half->context, &half->memory, half->from, half->to);
	return NULL;
}

static bool has_processors(void)
{
	cpu_set_t set;
	return !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 1;
}

/*
 * While the process is stopped, the thread must go before others from its first
 * instruction on: on a busy machine, it would otherwise begin much later.
 * Signals go to the other threads of the library's user.
 */
static bool start(struct half *half, pthread_t *ret)
{
	sigset_t all, mask;
	pthread_attr_t urgent;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	rcore_priority_attributes(&urgent);
	bool is_urgent = half->memory.stop && rcore_stop_is_urgent(half->memory.stop);
	int errnum = pthread_create(ret, is_urgent ? &urgent : NULL, run, half);
	if (errnum == EPERM)
		errnum = pthread_create(ret, NULL, run, half);
	pthread_attr_destroy(&urgent);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return !errnum;
}

void rcore_live_in_halves(struct rcore_live_memory *memory,
			  const struct rcore_live_range *ranges, size_t count,
			  rcore_live_half *read, void *context)
{
	struct half half = {*memory, 0, count, read, context};
	pthread_t thread;
	size_t bytes = 0, first = 0;
	for (size_t i = 0; i < count; i++)
		bytes += ranges[i].size;
	while (first < bytes / 2)
		first += ranges[half.from++].size;
	half.memory.file = -1;
	half.memory.late_count = 0;
	bool is_split = half.from < count && bytes >= LEAST && has_processors() &&
			start(&half, &thread);
	read(context, memory, 0, is_split ? half.from : count);
	if (!is_split)
		return;
	pthread_join(thread, NULL);
	memory->late_count += half.memory.late_count;
	memory->is_gone |= half.memory.is_gone;
	rcore_live_memory_deinit(&half.memory);
}
