/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "profile/totals.h"

/* Returns the totals of a process; NULL if memory is short. */
static struct rcore_process_total *total_of(struct rcore_totals *totals, uint32_t process,
					    enum rcore_side side)
{
	while (totals->processes.count <= process)
		if (!rcore_push(&totals->processes)) {
			totals->profile->no_memory = true;
			return NULL;
		}
	return &totals->processes.items[process].sides[side];
}

/* Recordings of older versions have no processes, only the pid of threads. */
static uint32_t process_of(struct rcore_totals *totals, uint32_t number)
{
	const struct rcore_profile_thread *thread =
		rcore_profile_thread_at(totals->profile, number);
	const struct rcore_profile_process process = {.pid = thread->pid};
	return thread->process || !thread->pid
		       ? thread->process
		       : rcore_profile_process(totals->profile, &process);
}

void rcore_totals_add_process(struct rcore_totals *totals, enum rcore_side side,
			      const struct rcore_total_key *whole,
			      const struct rcore_profile_sample *sample)
{
	uint32_t state = rcore_profile_state_at(totals->profile, whole->state)->kind;
	struct rcore_process_total *total =
		total_of(totals, process_of(totals, whole->thread), side);
	if (!total)
		return;
	total->amounts.wall += sample->wall;
	total->amounts.cpu += sample->cpu;
	total->amounts.count += sample->count;
	if (state != RCORE_SAMPLE_PARKED)
		total->threads += sample->wall;
	if (state == RCORE_SAMPLE_GVL)
		total->gvl += sample->wall;
}

void rcore_totals_end_process(struct rcore_totals *totals, enum rcore_side side,
			      uint32_t process, uint64_t time)
{
	struct rcore_process_total *total = total_of(totals, process, side);
	if (total)
		total->ended = time;
}

struct rcore_process_total rcore_totals_process(const struct rcore_totals *totals,
						uint32_t process, enum rcore_side side)
{
	return process < totals->processes.count ? totals->processes.items[process].sides[side]
						 : (struct rcore_process_total){0};
}
