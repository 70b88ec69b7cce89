/* SPDX-License-Identifier: MIT */
#include "target/live/pages/live_halves.h"

#include <errno.h>

#include "base/second_thread.h"
#include "target/live/live_priority.h"

/*
 * Starting a thread takes as long as reading some 100 KB. One more range takes
 * as long to read as this many more bytes of the same range.
 */
enum { LEAST = 1 << 20, RANGE = 512 };

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

/*
 * While the process is stopped, the thread must run before others from its
 * first instruction on: on a busy machine, it would otherwise begin much later.
 */
static bool start(struct half *half, pthread_t *ret)
{
	pthread_attr_t urgent;
	rcore_priority_attributes(&urgent);
	bool is_urgent = half->memory.stop && rcore_stop_is_urgent(half->memory.stop);
	int errnum = rcore_second_thread(ret, is_urgent ? &urgent : NULL, run, half);
	if (errnum == EPERM)
		errnum = rcore_second_thread(ret, NULL, run, half);
	pthread_attr_destroy(&urgent);
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
		bytes += ranges[i].size + RANGE;
	while (first < bytes / 2)
		first += ranges[half.from++].size + RANGE;
	half.memory.file = -1;
	half.memory.late_count = 0;
	bool is_split = half.from < count && bytes >= LEAST && rcore_has_processors() &&
			start(&half, &thread);
	read(context, memory, 0, is_split ? half.from : count);
	if (!is_split)
		return;
	pthread_join(thread, NULL);
	memory->late_count += half.memory.late_count;
	memory->is_gone |= half.memory.is_gone;
	rcore_live_memory_deinit(&half.memory);
}
