/* SPDX-License-Identifier: MIT */
#include "sampler/sampler_private.h"

/*
 * For how long a fiber was parked.
 *
 * It was parked at some time between the look that found it parked first and
 * the one before, and left at some time between the last one and the one after.
 * On average, it was parked for half of each. Without these halves, fibers that
 * are parked for little longer than a round would seem to take nearly no time,
 * such as those of a server that has one for each request.
 */

void rcore_parked_add_sample(struct rcore_sampler *sampler, struct rcore_parked *parked)
{
	const uint64_t time = sampler->turns.time;
	uint64_t before = parked->since;
	if (!before) {
		parked->first = time;
		if (parked->looked && parked->looked < time)
			before = time - (time - parked->looked) / 2;
	}
	rcore_track_add(sampler, &parked->track, parked->track.node, parked->state_number,
			before, time, 0, 0);
	parked->since = parked->looked = time;
	sampler->statistics.parked++;
}

/*
 * Returns how long a fiber was parked after its last sample, on average. If it
 * has ended, and lived for less than the time before it was found, others like
 * it may have come and gone unseen in that time, so it also represents these.
 */
static uint64_t rest_of(const struct rcore_parked *parked, uint64_t time, bool has_ended)
{
	uint64_t rest = (time - parked->since) / 2;
	if (!has_ended)
		return rest;
	uint64_t seen = parked->since - parked->first + rest;
	return seen < parked->unseen / 2 ? rest + parked->unseen / 2 - seen : rest;
}

void rcore_parked_leave(struct rcore_sampler *sampler, struct rcore_parked *parked,
			bool has_ended)
{
	const uint64_t time = sampler->turns.time;
	struct rcore_track *track = &parked->track;
	if (parked->since && track->pending.is_there)
		track->pending.sample.wall += rest_of(parked, time, has_ended);
	else if (parked->since && track->node) /* its samples were written */
		rcore_track_add_copied(sampler, track, track->node, parked->state_number,
				       parked->since, rest_of(parked, time, has_ended), 0);
	rcore_track_settle(sampler, track);
	parked->since = parked->unseen = 0;
	parked->looked = time;
	parked->is_resolved = false;
}
