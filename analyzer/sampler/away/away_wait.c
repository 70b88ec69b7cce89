/* SPDX-License-Identifier: MIT */
#include "base/grow.h"
#include "sampler/away/away.h"

/* Which kinds of waits are known, and the waits whose kind is not. */

/* The most waits that are kept while nothing is known about them. */
enum { UNKNOWN_MAX = 4096 };

bool rcore_away_is_known(const struct rcore_sampler *sampler, uint32_t node)
{
	return rcore_address_map_get(&sampler->wait_kinds, node) >= 0;
}

uint32_t rcore_away_blocked(struct rcore_sampler *sampler, uint32_t node)
{
	int known = rcore_address_map_get(&sampler->wait_kinds, node);
	const struct rcore_profile_state state = {
		.kind = RCORE_SAMPLE_BLOCKED,
		.wait = known >= 0 ? (uint32_t)known
				   : rcore_profile_string(sampler->profile, "unknown")};
	return rcore_profile_state(sampler->profile, &state);
}

bool rcore_away_keep_unknown(struct rcore_sampler *sampler,
			     const struct rcore_profile_sample *sample)
{
	size_t count = sampler->unknown_waits.count;
	if (!rcore_grow((void **)&sampler->unknown_waits.items, count,
			&sampler->unknown_waits.capacity, sizeof(*sample)))
		return false;
	sampler->unknown_waits.items[count] = *sample;
	sampler->unknown_waits.count = count + 1;
	if (count + 1 >= UNKNOWN_MAX)
		rcore_away_write_unknown(sampler);
	return true;
}

void rcore_away_write_unknown(struct rcore_sampler *sampler)
{
	struct rcore_pending pending = {0};
	for (size_t i = 0; i < sampler->unknown_waits.count; i++) {
		struct rcore_profile_sample *sample = &sampler->unknown_waits.items[i];
		sample->state = rcore_away_blocked(sampler, sample->node);
		rcore_pending_add(sampler, &pending, sample);
	}
	rcore_pending_write(sampler, &pending);
	sampler->unknown_waits.count = 0;
}
