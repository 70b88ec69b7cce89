/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/clock.h"
#include "base/grow.h"
#include "sampler/away/away.h"

/*
 * Finds what threads wait for after they have left their processors. The
 * decoders read the process, so a wait is known only if the thread has not run
 * since it left: its CPU time shows that. Each call, usually some twenty
 * milliseconds after the last one, looks up the waits that have begun since.
 *
 * A wait that ends before it is looked up gets the kind of another wait with
 * the same stack, because the innermost method determines the kind, but it gets
 * no details. If no such wait is found before the profile is written, its kind
 * is "unknown".
 */

enum {
	/* How many waits are looked up in one call. */
	TOGETHER = 256,
	/* The owner of a lock may change while a thread waits. */
	AGAIN_NS = 500000000,
	ATTEMPTS = 5,
};

/* Adds a kind that is not known yet. Without memory, it stays unknown. */
static void remember(struct rcore_sampler *sampler, uint32_t node, uint32_t wait)
{
	if (wait && !rcore_away_is_known(sampler, node) &&
	    !rcore_address_map_put(&sampler->wait_kinds, node, (int)wait))
		sampler->profile->no_memory = true;
}

/* Returns false if the thread cannot be read. */
static bool ask(struct rcore_sampler *sampler, struct rcore_away *away, uint64_t now)
{
	struct rcore_sampled_thread *thread = rcore_sampler_thread_at(sampler, away->thread);
	away->was_known = away->looked && !away->is_unknown;
	/* What failed because the thread ran just then is tried again soon. */
	away->looked = ++away->looks < ATTEMPTS ? 0 : now;
	if (!thread || !rcore_sampler_read_thread(sampler, thread))
		return false;
	thread->is_asked = true;
	return true;
}

static void note(struct rcore_sampler *sampler, struct rcore_away *away, uint64_t now)
{
	uint32_t number = rcore_sampler_thread_at(sampler, away->thread)->state_number;
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
	if (away->was_known && number != away->sample.state)
		rcore_away_add_time(sampler, away, now);
	away->sample.state = number;
}

/* Another wait with the same stack may have shown the kind meanwhile. */
static void learn(struct rcore_sampler *sampler, struct rcore_away *away)
{
	if (!away->is_unknown || !rcore_away_is_known(sampler, away->sample.node))
		return;
	away->is_unknown = false;
	away->sample.state = rcore_away_blocked(sampler, away->sample.node);
}

static bool is_due(const struct rcore_sampler *sampler, const struct rcore_away *away,
		   uint64_t now)
{
	return away->is_away && away->is_blocked && away->ran &&
	       away->generation == sampler->generation &&
	       (!away->looked || now - away->looked > AGAIN_NS);
}

/* Returns 0 for the waits that are looked up first. */
static int rank(const struct rcore_away *away)
{
	if (away->is_unknown && away->looks < ATTEMPTS)
		return 0;
	return away->looked ? 2 : 1;
}

/* Of one rank, the one that has waited the longest for a look is the first. */
static int compare(const void *one, const void *other)
{
	const struct rcore_away *first = *(struct rcore_away *const *)one;
	const struct rcore_away *second = *(struct rcore_away *const *)other;
	uint64_t since = first->looked ? first->looked : first->left;
	uint64_t since_other = second->looked ? second->looked : second->left;
	if (rank(first) != rank(second))
		return rank(first) - rank(second);
	return (since > since_other) - (since < since_other);
}

void rcore_sampler_look_up_waits(struct rcore_sampler *sampler)
{
	uint64_t now = rcore_clock_ns();
	size_t count = 0, asked = 0;
	struct rcore_away **due =
		rcore_calloc(HASH_COUNT(sampler->away), sizeof(struct rcore_away *));
	for (struct rcore_away *each = sampler->away; due && each; each = each->hh.next)
		if (is_due(sampler, each, now)) {
			learn(sampler, each);
			due[count++] = each;
		}
	if (count)
		qsort(due, count, sizeof(struct rcore_away *), compare);
	for (size_t i = 0; i < count && i < TOGETHER; i++)
		if (ask(sampler, due[i], now))
			due[asked++] = due[i];
	if (asked)
		rcore_sampler_waits(sampler);
	for (size_t i = 0; i < asked; i++)
		note(sampler, due[i], now);
	free(due);
}
