/* SPDX-License-Identifier: MIT */
/* Tests when a round of parked fibers begins, and how much of it a tick does. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/count.h"
#include "base/grow.h"
#include "live_child.h"
#include "sampler/sampler_private.h"
#include "suite.h"

enum { RATE = 10, PERIOD = 1000000000 / RATE, FIBERS = 200, SLICE = 64 };

/* A sampler that knows no fibers, and need not search for any. */
static struct rcore_sampler *sampler_of_none(uint64_t *left)
{
	static const struct rcore_layout layout;
	struct rcore_sampler *sampler = calloc(1, sizeof(*sampler));
	ck_assert_ptr_nonnull(sampler);
	sampler->layout = &layout;
	sampler->options.fiber_rate = RATE;
	sampler->options.fiber_time = left;
	sampler->last_search = 1;
	sampler->have_all_rested = true;
	return sampler;
}

/* Returns how many rounds a tick at `now` begins. */
static size_t rounds_at(struct rcore_sampler *sampler, uint64_t now)
{
	size_t before = sampler->fiber_rounds;
	struct rcore_error *err = rcore_sampler_parked(sampler, now);
	ck_assert_ptr_null(err);
	return sampler->fiber_rounds - before;
}

static const uint64_t start = 50ull * PERIOD;

START_TEST(begins_at_the_rate)
{
	struct rcore_sampler *sampler = sampler_of_none(NULL);
	ck_assert_uint_eq(rounds_at(sampler, start), 1);
	ck_assert_uint_eq(sampler->last_fibers, start);
	ck_assert_uint_eq(rounds_at(sampler, start), 0);
	ck_assert_uint_eq(rounds_at(sampler, start + PERIOD - 1), 0);
	ck_assert_uint_eq(rounds_at(sampler, start + PERIOD), 1);
	/* From the beginning of the last round on. */
	ck_assert_uint_eq(rounds_at(sampler, start + 2ull * PERIOD - 1), 0);
	ck_assert_uint_eq(rounds_at(sampler, start + 2ull * PERIOD + 5), 1);
	ck_assert_uint_eq(rounds_at(sampler, start + 3ull * PERIOD), 0);
	/* A tick that is late does not catch up. */
	ck_assert_uint_eq(rounds_at(sampler, start + 9ull * PERIOD), 1);
	ck_assert_uint_eq(rounds_at(sampler, start + 9ull * PERIOD + 1), 0);
	free(sampler);
}
END_TEST

START_TEST(never_begins_without_a_rate)
{
	struct rcore_sampler *sampler = sampler_of_none(NULL);
	sampler->options.fiber_rate = 0;
	ck_assert_uint_eq(rounds_at(sampler, start), 0);
	ck_assert_uint_eq(rounds_at(sampler, start + 100ull * PERIOD), 0);
	free(sampler);
}
END_TEST

START_TEST(is_put_off_without_time)
{
	uint64_t left = 0;
	struct rcore_sampler *sampler = sampler_of_none(&left);
	/* The first one is not. */
	ck_assert_uint_eq(rounds_at(sampler, start), 1);
	ck_assert_uint_eq(rounds_at(sampler, start + PERIOD), 0);
	ck_assert_uint_eq(sampler->last_fibers, start);
	left = PERIOD;
	ck_assert_uint_eq(rounds_at(sampler, start + PERIOD), 1);
	ck_assert_uint_lt(left, PERIOD);
	free(sampler);
}
END_TEST

/* All fibers of this sampler are due, and a round finds that they have ended. */
static struct rcore_sampler *sampler_of_ended(struct rcore_live *live, uint64_t *left)
{
	struct rcore_sampler *sampler = sampler_of_none(left);
	sampler->live = live;
	sampler->reader.ec_size = 64;
	static const struct rcore_cache_options pages = {.max_bytes = 1 << 20};
	struct rcore_error *err =
		rcore_cache_open(rcore_live_bare_memory(live), &pages, &sampler->pages);
	ck_assert_ptr_null(err);
	for (size_t i = 0; i < FIBERS; i++) {
		struct rcore_parked **slot = rcore_push(&sampler->parked);
		ck_assert(slot && (*slot = calloc(1, sizeof(**slot))));
		(*slot)->address = 4096 + 64 * i;
		(*slot)->number = i;
	}
	return sampler;
}

static size_t gone_of(const struct rcore_sampler *sampler)
{
	size_t count = 0;
	for (size_t i = 0; i < sampler->parked.count; i++)
		count += sampler->parked.items[i]->is_gone;
	return count;
}

static void free_sampler(struct rcore_sampler *sampler)
{
	rcore_parked_free_all(sampler);
	rcore_address_map_deinit(&sampler->parked_at);
	rcore_cache_close(sampler->pages);
	free(sampler);
}

START_TEST(reads_all_without_a_limit)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_sampler *sampler = sampler_of_ended(live, NULL);
	ck_assert_uint_eq(rounds_at(sampler, start), 1);
	ck_assert(!sampler->turns.is_open);
	ck_assert_uint_eq(sampler->parked.count, 0);
	free_sampler(sampler);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

START_TEST(continues_in_the_next_tick)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	uint64_t left = 1;
	struct rcore_sampler *sampler = sampler_of_ended(live, &left);
	/* One slice takes longer than a nanosecond. */
	ck_assert_uint_eq(rounds_at(sampler, start), 1);
	ck_assert_uint_eq(left, 0);
	ck_assert(sampler->turns.is_open);
	ck_assert_uint_eq(gone_of(sampler), SLICE);
	/* Others have used up the time of this tick. */
	ck_assert_uint_eq(rounds_at(sampler, start + 1), 0);
	ck_assert_uint_eq(gone_of(sampler), SLICE);
	/* An open round goes on before the next one is due, and at any time. */
	left = 1;
	ck_assert_uint_eq(rounds_at(sampler, start + 2), 0);
	ck_assert_uint_eq(gone_of(sampler), 2 * SLICE);
	left = 1;
	ck_assert_uint_eq(rounds_at(sampler, start + 5ull * PERIOD), 0);
	ck_assert_uint_eq(gone_of(sampler), 3 * SLICE);
	ck_assert_uint_eq(sampler->parked.count, FIBERS);
	/* There is more time than the rest takes. */
	left = 3600ull * PERIOD;
	ck_assert_uint_eq(rounds_at(sampler, start + 5ull * PERIOD + 1), 0);
	ck_assert_uint_gt(left, 0);
	ck_assert_uint_lt(left, 3600ull * PERIOD);
	ck_assert(!sampler->turns.is_open);
	ck_assert_uint_eq(sampler->parked.count, 0);
	ck_assert_uint_eq(rounds_at(sampler, start + 5ull * PERIOD + 2), 1);
	free_sampler(sampler);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* The end of a recording does not wait for further ticks. */
START_TEST(ends_an_open_round)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	uint64_t left = 1;
	struct rcore_sampler *sampler = sampler_of_ended(live, &left);
	ck_assert_uint_eq(rounds_at(sampler, start), 1);
	ck_assert(sampler->turns.is_open);
	struct rcore_error *err = rcore_parked_end(sampler, start + 1);
	ck_assert_ptr_null(err);
	ck_assert(!sampler->turns.is_open);
	ck_assert_uint_eq(sampler->parked.count, 0);
	/* Its samples were of an earlier time, so another round followed it. */
	ck_assert_uint_eq(sampler->turns.read, 0);
	ck_assert_uint_eq(sampler->fiber_rounds, 2);
	err = rcore_parked_end(sampler, start + 2);
	ck_assert_ptr_null(err);
	ck_assert_uint_eq(sampler->fiber_rounds, 2);
	free_sampler(sampler);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

/* Whether a round at `now` searches for new fibers, and finds none. */
static bool searches_at(struct rcore_sampler *sampler, uint64_t now)
{
	sampler->have_all_rested = false;
	struct rcore_error *err = rcore_parked_search(sampler, now);
	ck_assert_ptr_null(err);
	return sampler->have_all_rested;
}

START_TEST(searches_less_without_fibers)
{
	enum { COST = 1000 /* nanoseconds of a processor */, SHARE = 5000, IDLE = 1000 };
	static const uint64_t none[1];
	struct rcore_sampler *sampler = sampler_of_none(NULL);
	sampler->codes.ruby.layout = sampler->layout;
	sampler->codes.ruby.packed_fibers = none;
	sampler->last_search = start;
	sampler->search_cost = COST;
	sampler->search_share = SHARE;
	ck_assert(!searches_at(sampler, start + COST * SHARE - 1));
	/* A thread was seen to run a fiber. */
	sampler->has_fibers = true;
	ck_assert(!searches_at(sampler, start + COST * IDLE - 1));
	ck_assert(searches_at(sampler, start + COST * IDLE));
	ck_assert_uint_eq(sampler->search_share, IDLE);
	sampler->has_fibers = false;
	sampler->last_search = start;
	sampler->search_cost = COST;
	sampler->search_share = SHARE;
	ck_assert(searches_at(sampler, start + COST * SHARE));
	ck_assert_uint_eq(sampler->search_share, SHARE);
	free(sampler);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {begins_at_the_rate,          never_begins_without_a_rate,
				      is_put_off_without_time,     reads_all_without_a_limit,
				      continues_in_the_next_tick,  ends_an_open_round,
				      searches_less_without_fibers};
	const struct rcore_test_suite suite = {
		.name = "parked", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
