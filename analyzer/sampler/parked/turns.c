/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/clock.h"
#include "base/hot.h"
#include "sampler/sampler_private.h"

/*
 * Which parked fibers a round reads. To compare 2,000 of them takes some 10 ms,
 * ten times a second, if their thread has run. So if this takes more than its
 * share of a processor, the fibers take turns: a round reads half of them, or a
 * third, and so on. A sample represents the time since the fiber was last read,
 * so the sums stay right.
 *
 * When a fiber ends, or its thread is seen to run it, only the looks before and
 * after show how long it was parked. So a fiber is left out only for a part of
 * the time for which it is known to have been parked.
 */
enum {
	FEWEST = 1, /* samples of a fiber per second */
	PART = 4,
	/* These take their turn together: one range has several of them. */
	NEIGHBOURS = 16,
};

void rcore_parked_begin_turns(struct rcore_sampler *sampler, uint64_t time)
{
	struct rcore_parked_turns *turns = &sampler->turns;
	if (!turns->every)
		turns->every = 1;
	turns->read = turns->first = turns->left = turns->next = 0;
	turns->cost = 0;
	turns->time = time;
	turns->is_open = true;
	rcore_parked_measure_turns(sampler);
}

void rcore_parked_measure_turns(struct rcore_sampler *sampler)
{
	sampler->turns.begun = rcore_clock_thread_ns();
}

void rcore_parked_add_cost(struct rcore_sampler *sampler)
{
	sampler->turns.cost += rcore_clock_thread_ns() - sampler->turns.begun;
}

/* Whether it would be left out for more than a part of its time. */
static RCORE_HOT bool is_young(const struct rcore_sampler *sampler,
			       const struct rcore_parked *parked)
{
	return parked->begun &&
	       (sampler->fiber_rounds - parked->round) * PART > parked->round - parked->begun;
}

RCORE_HOT bool rcore_parked_has_turn(struct rcore_sampler *sampler,
				     const struct rcore_parked *parked)
{
	struct rcore_parked_turns *turns = &sampler->turns;
	bool is_first = !parked->round;
	if (!is_first && !is_young(sampler, parked) &&
	    parked->number / NEIGHBOURS % turns->every !=
		    sampler->fiber_rounds % turns->every) {
		turns->left++;
		return false;
	}
	turns->read++;
	turns->first += is_first;
	return true;
}

void rcore_parked_end_turns(struct rcore_sampler *sampler)
{
	struct rcore_parked_turns *turns = &sampler->turns;
	const struct rcore_sampler_options *options = &sampler->options;
	sampler->statistics.parked_left += turns->left;
	/* The first look at a fiber takes many times longer than the others. */
	if (options->fiber_share <= 0 || !turns->read || turns->read < 2 * turns->first)
		return;
	double cost = (double)turns->cost / 1e9;
	double allowed = options->fiber_share / options->fiber_rate;
	double all = cost * (double)(turns->read + turns->left) / (double)turns->read;
	double every = (double)turns->every;
	turns->all = turns->all > 0 ? (turns->all + all) / 2 : all;
	if (turns->all / every > allowed)
		every = fmin(ceil(turns->all / allowed), options->fiber_rate / FEWEST);
	else if (turns->every > 1 && turns->all / (every - 1) < allowed)
		every--;
	turns->every = (size_t)every;
}
