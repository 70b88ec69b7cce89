/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/grow.h"
#include "sampler/away.h"

/*
 * Finds what the threads wait for that have left their processors. The decoders
 * read the process, so a wait is known only if the thread has not run since it
 * left: its CPU time shows that. Each call of begin_switches(), some ten
 * milliseconds after the last one, looks up the waits that have begun since.
 *
 * A wait that has ended before that gets the kind of another wait with the
 * same stack, because the innermost method decides about the kind, but no
 * details. If there was none until the profile is written, its kind is
 * "unknown".
 */

enum {
	/* Looking up takes at most so long in one call. */
	BUDGET_NS = 5000000,
	/* The owner of a lock may change while a thread waits. */
	AGAIN_NS = 500000000,
	ATTEMPTS = 5,
	/* So many waits are kept because nothing is known of them. */
	UNKNOWN_MAX = 4096,
};

uint32_t rcore_away_blocked(struct rcore_sampler *sampler, uint32_t node)
{
	int known = rcore_address_map_get(&sampler->wait_kinds, node);
	const struct rcore_profile_state state = {
		.kind = RCORE_SAMPLE_BLOCKED,
		.wait = known >= 0 ? (uint32_t)known
				   : rcore_profile_string(sampler->profile, "unknown")};
	return rcore_profile_state(sampler->profile, &state);
}

/* Adds a kind that is not known yet. Without memory, it stays unknown. */
static void remember(struct rcore_sampler *sampler, uint32_t node, uint32_t wait)
{
	if (wait && rcore_address_map_get(&sampler->wait_kinds, node) < 0 &&
	    !rcore_address_map_put(&sampler->wait_kinds, node, (int)wait))
		sampler->profile->no_memory = true;
}

static void look_up(struct rcore_sampler *sampler, struct rcore_away *away)
{
	struct rcore_sampled_thread *thread = rcore_sampler_thread_at(sampler, away->thread);
	bool was_known = away->looked && !away->is_unknown;
	uint64_t now = rcore_clock_ns();
	/* What failed because the thread ran just then is tried again soon. */
	away->looked = ++away->looks < ATTEMPTS ? 0 : now;
	if (!thread || !rcore_sampler_read_thread(sampler, thread))
		return;
	uint32_t number = rcore_sampler_wait(sampler, thread, NULL);
	const struct rcore_profile_state *state =
		rcore_profile_state_at(sampler->profile, number);
	uint32_t wait = state->wait;
	if (!wait && state->kind == RCORE_SAMPLE_BLOCKED)
		return;
	if (sampler->profile->no_memory || rcore_thread_ran(sampler, away->tid) != away->ran)
		return;
	away->looked = now;
	remember(sampler, away->sample.node, wait);
	away->is_unknown = false;
	if (was_known && number != away->sample.state)
		rcore_away_add_time(sampler, away, now);
	away->sample.state = number;
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

void rcore_away_look_up(struct rcore_sampler *sampler)
{
	uint64_t begun = rcore_clock_ns();
	for (struct rcore_away *each = sampler->away; each; each = each->hh.next) {
		uint64_t now = rcore_clock_ns();
		if (now - begun > BUDGET_NS)
			break;
		if (each->is_away && each->is_blocked && each->ran &&
		    each->generation == sampler->generation &&
		    (!each->looked || now - each->looked > AGAIN_NS))
			look_up(sampler, each);
	}
}
