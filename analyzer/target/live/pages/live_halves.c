/* SPDX-License-Identifier: MIT */
#include "target/live/pages/live_halves.h"

#include <errno.h>

#include "base/second_thread.h"
#include "target/live/live_priority.h"

/*
 * Starting a thread takes as long as reading some 100 KB, waking one that is
 * ready a tenth of that. One more range takes as long to read as this many more
 * bytes of the same range.
 */
enum { LEAST = 1 << 20, LEAST_IF_READY = LEAST / 10, RANGE = 4 << 10 };

/*
 * Returns how long it takes to read a range, in bytes. A range near the end of
 * the one before is read together with it and the bytes between them.
 */
static size_t cost_of(const struct rcore_live_range *ranges, size_t at)
{
	uint64_t end = at ? ranges[at - 1].start + ranges[at - 1].size : 0;
	bool is_near = at && ranges[at].start >= end && ranges[at].start - end < RANGE;
	return ranges[at].size + (is_near ? (size_t)(ranges[at].start - end) : RANGE);
}

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

static bool is_urgent_now(const struct rcore_live_memory *memory)
{
	return memory->stop && rcore_stop_is_urgent(memory->stop);
}

/* Returns the thread that is ready, if it has the right priority, or NULL. */
static struct rcore_standby *ready_thread(const struct rcore_live_memory *memory)
{
	bool is_right = memory->standby && memory->is_urgent == is_urgent_now(memory);
	return is_right ? memory->standby : NULL;
}

/* Which thread reads a half. */
struct reader {
	struct rcore_standby *standby; /* or else: */
	pthread_t thread;
};

/*
 * While the process is stopped, the thread must run before others from its
 * first instruction on: on a busy machine, it would otherwise begin much later.
 */
static bool start(struct half *half, struct reader *ret)
{
	pthread_attr_t urgent;
	*ret = (struct reader){.standby = ready_thread(&half->memory)};
	if (ret->standby) {
		rcore_standby_give(ret->standby, run, half);
		return true;
	}
	bool is_urgent = is_urgent_now(&half->memory);
	rcore_priority_attributes(&urgent);
	int errnum = rcore_second_thread(&ret->thread, is_urgent ? &urgent : NULL, run, half);
	if (errnum == EPERM)
		errnum = rcore_second_thread(&ret->thread, NULL, run, half);
	pthread_attr_destroy(&urgent);
	return !errnum;
}

static void wait_for(const struct reader *reader)
{
	if (reader->standby)
		rcore_standby_wait(reader->standby);
	else
		pthread_join(reader->thread, NULL);
}

void rcore_live_in_halves(struct rcore_live_memory *memory,
			  const struct rcore_live_range *ranges, size_t count,
			  rcore_live_half *read, void *context)
{
	struct half half = {*memory, 0, count, read, context};
	struct reader reader;
	size_t bytes = 0, first = 0;
	for (size_t i = 0; i < count; i++)
		bytes += cost_of(ranges, i);
	while (first < bytes / 2)
		first += cost_of(ranges, half.from++);
	half.memory.file = half.memory.home = -1;
	half.memory.is_half = true;
	half.memory.late_count = 0;
	size_t least = ready_thread(memory) ? LEAST_IF_READY : LEAST;
	bool is_split = half.from < count && bytes >= least && rcore_has_processors() &&
			start(&half, &reader);
	read(context, memory, 0, is_split ? half.from : count);
	if (!is_split)
		return;
	wait_for(&reader);
	memory->late_count += half.memory.late_count;
	memory->is_gone |= half.memory.is_gone;
	rcore_live_memory_deinit(&half.memory);
}
