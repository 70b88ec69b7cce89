/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "profile/totals.h"

void rcore_totals_add_time(struct rcore_totals *totals,
			   const struct rcore_profile_sample *sample, enum rcore_side side)
{
	struct rcore_totals_span *span = &totals->spans[side];
	uint64_t before = sample->wall / (sample->count ? sample->count : 1) / 2;
	uint64_t begin = sample->time - (before < sample->time ? before : sample->time);
	uint64_t end = begin + sample->wall < begin ? UINT64_MAX : begin + sample->wall;
	if (!span->has_samples || begin < span->first)
		span->first = begin;
	if (!span->has_samples || end > span->last)
		span->last = end;
	span->has_samples = true;
	totals->durations[side] = span->last - span->first;
}

/* Returns the slot of `number`; NULL if memory is short. */
static uint32_t *last_of(struct rcore_timeline_last *last, uint32_t number)
{
	size_t wanted = (size_t)number + number / 2 + 1;
	if (number < last->capacity)
		return &last->items[number];
	uint32_t *grown = reallocarray(last->items, wanted, sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + last->capacity, 0, (wanted - last->capacity) * sizeof(*grown));
	last->items = grown;
	last->capacity = wanted;
	return &grown[number];
}

bool rcore_totals_keep_time(struct rcore_totals *totals, enum rcore_side side, uint32_t key,
			    const struct rcore_total_key *whole,
			    const struct rcore_profile_sample *sample)
{
	struct rcore_timeline *timeline = &totals->timelines[side];
	if (!totals->options.keeps_times)
		return true;
	bool is_parked = rcore_profile_state_at(totals->profile, whole->state)->kind ==
			 RCORE_SAMPLE_PARKED;
	uint32_t *before = is_parked ? last_of(&timeline->by_parked_fiber, whole->fiber)
				     : last_of(&timeline->by_thread, whole->thread);
	uint32_t *alike = totals->is_full ? last_of(&timeline->by_key, key) : before;
	if (!before || !alike)
		return false;
	uint32_t last = *before && timeline->items[*before - 1].key == key ? *before : 0;
	if (totals->is_full && !last)
		last = *alike;
	if (!last) {
		struct rcore_timed *timed = rcore_push(timeline);
		if (!timed)
			return false;
		*timed = (struct rcore_timed){.time = sample->time, .key = key};
		last = (uint32_t)timeline->count;
	}
	timeline->items[last - 1].wall += sample->wall;
	timeline->items[last - 1].cpu += sample->cpu;
	*before = *alike = last;
	return true;
}

static uint64_t scaled(uint64_t value, double factor)
{
	return (uint64_t)((double)value * factor + 0.5);
}

static void scale(struct rcore_amounts *amounts, double factor)
{
	amounts->wall = scaled(amounts->wall, factor);
	amounts->cpu = scaled(amounts->cpu, factor);
	amounts->count = scaled(amounts->count, factor);
}

static void scale_process(struct rcore_process_total *total, double factor)
{
	scale(&total->amounts, factor);
	total->threads = scaled(total->threads, factor);
	total->gvl = scaled(total->gvl, factor);
	total->ended = scaled(total->ended, factor);
}

void rcore_totals_scale(struct rcore_totals *totals)
{
	const uint64_t *durations = totals->durations;
	if (!durations[RCORE_SIDE_OLD] || !durations[RCORE_SIDE_NEW])
		return;
	double factor = (double)durations[RCORE_SIDE_NEW] / (double)durations[RCORE_SIDE_OLD];
	struct rcore_amounts *sum = &totals->sums[RCORE_SIDE_OLD];
	*sum = (struct rcore_amounts){0};
	for (size_t i = 0; i < totals->capacities[RCORE_SIDE_OLD]; i++) {
		struct rcore_amounts *old = &totals->amounts[RCORE_SIDE_OLD][i];
		scale(old, factor);
		sum->wall += old->wall;
		sum->cpu += old->cpu;
		sum->count += old->count;
	}
	for (size_t i = 0; i < totals->processes.count; i++)
		scale_process(&totals->processes.items[i].sides[RCORE_SIDE_OLD], factor);
	struct rcore_timeline *timeline = &totals->timelines[RCORE_SIDE_OLD];
	for (size_t i = 0; i < timeline->count; i++) {
		struct rcore_timed *timed = &timeline->items[i];
		timed->time = scaled(timed->time, factor);
		timed->wall = scaled(timed->wall, factor);
		timed->cpu = scaled(timed->cpu, factor);
	}
}
