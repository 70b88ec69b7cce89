/* SPDX-License-Identifier: MIT */
/* Tests which rounds read a parked fiber if the fibers take turns. */
#include <stdlib.h>

#include "base/count.h"
#include "sampler/sampler_private.h"
#include "suite.h"

enum { EVERY = 10, ROUNDS = 200, FIBERS = 64 };

/*
 * Returns how many of `rounds` rounds read a fiber, and checks that it is never
 * left out for longer than it should.
 */
static size_t reads_of(struct rcore_sampler *sampler, struct rcore_parked *parked,
		       size_t rounds)
{
	size_t reads = 0, first = sampler->fiber_rounds;
	while (sampler->fiber_rounds < first + rounds) {
		sampler->fiber_rounds++;
		size_t left = sampler->fiber_rounds - parked->round;
		if (!rcore_parked_has_turn(sampler, parked)) {
			ck_assert_uint_lt(left, EVERY);
			if (parked->begun)
				ck_assert_uint_le(4 * left, parked->round - parked->begun);
			continue;
		}
		parked->round = sampler->fiber_rounds;
		reads++;
	}
	return reads;
}

static struct rcore_sampler *sampler_of_many(size_t rounds)
{
	struct rcore_sampler *sampler = calloc(1, sizeof(*sampler));
	ck_assert_ptr_nonnull(sampler);
	rcore_parked_begin_turns(sampler, 1);
	sampler->turns.every = EVERY;
	sampler->fiber_rounds = rounds;
	return sampler;
}

/* Fibers that were there first have been parked for long. */
START_TEST(old_fibers)
{
	for (size_t number = 0; number < FIBERS; number++) {
		struct rcore_sampler *sampler = sampler_of_many(0);
		struct rcore_parked parked = {.number = number};
		size_t reads = reads_of(sampler, &parked, ROUNDS);
		ck_assert_uint_ge(reads, ROUNDS / EVERY);
		ck_assert_uint_le(reads, ROUNDS / EVERY + 1);
		ck_assert_uint_eq(sampler->turns.left, ROUNDS - reads);
		free(sampler);
	}
}
END_TEST

/* One that may end soon, or run again. */
START_TEST(young_fibers)
{
	for (size_t number = 0; number < FIBERS; number++) {
		struct rcore_sampler *sampler = sampler_of_many(20);
		struct rcore_parked parked = {.number = number, .begun = 21};
		ck_assert_uint_eq(reads_of(sampler, &parked, 5), 5);
		reads_of(sampler, &parked, 4 * EVERY);
		ck_assert_uint_le(reads_of(sampler, &parked, ROUNDS), ROUNDS / EVERY + 1);
		/* Its thread was seen to run it. */
		parked.begun = parked.round = sampler->fiber_rounds;
		ck_assert_uint_eq(reads_of(sampler, &parked, 4), 4);
		free(sampler);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {old_fibers, young_fibers};
	const struct rcore_test_suite suite = {
		.name = "turns", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
