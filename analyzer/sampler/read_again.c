/* SPDX-License-Identifier: MIT */
#include "base/hot.h"
#include "sampler/sampler_private.h"

enum {
	SECOND = 1000000000,
	/*
	 * How many stacks whose copies differ may be read again: in each
	 * second, in one tick.
	 */
	RETRIES = 500,
	RETRIES_AT_ONCE = 50,
};

/*
 * Reading a stack takes its cache lines from the processor that runs the
 * thread, which then has to fetch them before it can write to them. One read a
 * millisecond is not noticed. But a program of short methods did 1.4 % less
 * work at 1,000 Hz while each sample that failed was read five times more. So
 * there is a limit, which only high rates reach.
 */
static RCORE_HOT bool is_to_be_read_again(struct rcore_sampler *sampler,
					  const struct rcore_look *look)
{
	if (look->verdict == RCORE_STACK_MOVED)
		return true;
	if (look->verdict != RCORE_STACK_TORN || !sampler->retries)
		return false;
	sampler->retries--;
	return true;
}

RCORE_HOT void rcore_sampler_allow_retries(struct rcore_sampler *sampler, uint64_t now)
{
	uint64_t more = (now - sampler->retries_allowed) / (SECOND / RETRIES);
	if (!more)
		return;
	sampler->retries_allowed += more * (SECOND / RETRIES);
	sampler->retries = sampler->retries + more < RETRIES_AT_ONCE ? sampler->retries + more
								     : RETRIES_AT_ONCE;
}

RCORE_HOT enum rcore_stack_verdict
rcore_sampler_check_stack(const struct rcore_sampler *sampler, struct rcore_track *track)
{
	enum rcore_stack_verdict verdict = rcore_stack_check(&sampler->reader, &track->stack);
	return verdict == RCORE_STACK_GOOD && track->stack.is_light && !track->stack.sleeps &&
			       !rcore_track_is_same(sampler, track)
		       ? RCORE_STACK_MOVED
		       : verdict;
}

/*
 * Each tick begins with another thread, so that the limit does not favour the
 * first ones.
 */
RCORE_HOT struct rcore_error *rcore_sampler_read_again(struct rcore_sampler *sampler,
						       struct rcore_look *looks, size_t count)
{
	size_t first = count ? sampler->statistics.ticks % count : 0;
	for (int attempt = 0; count && attempt < RCORE_SAMPLER_ATTEMPTS; attempt++) {
		size_t used = 0;
		for (size_t turn = 0; turn < count; turn++) {
			size_t i = (first + turn) % count;
			looks[i].is_again = is_to_be_read_again(sampler, &looks[i]);
			if (looks[i].is_again)
				sampler->stacks.items[used++] = &looks[i].thread->track.stack;
		}
		if (!used)
			break;
		sampler->statistics.reads++;
		struct rcore_error *err = rcore_stack_read(
			&sampler->reader, sampler->stacks.items, used, NULL, 0);
		if (err)
			return err;
		for (size_t i = 0; i < count; i++) {
			if (!looks[i].is_again)
				continue;
			if (looks[i].verdict == RCORE_STACK_TORN)
				sampler->statistics.rejected++;
			looks[i].verdict =
				rcore_sampler_check_stack(sampler, &looks[i].thread->track);
		}
	}
	return NULL;
}
