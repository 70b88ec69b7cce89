/* SPDX-License-Identifier: MIT */
#include "report/fold.h"

#include "model/group.h"

enum {
	MAX_PERIOD = 16,
	MIN_ROUNDS = 4, /* fewer are easier to read as they are */
	MIN_FRAMES = 10,
};

static size_t rounds_of(const struct rcore_fiber *fiber, size_t first, size_t period)
{
	const struct rcore_frame *frames = fiber->frames;
	size_t at = first;
	while (at < fiber->frame_count &&
	       (at < first + period || rcore_frame_same(&frames[at], &frames[at - period])))
		at++;
	return (at - first) / period;
}

bool rcore_fold_next(const struct rcore_fiber *fiber, size_t *at, struct rcore_fold *ret)
{
	if (*at >= fiber->frame_count)
		return false;
	*ret = (struct rcore_fold){.first = *at, .period = 1, .rounds = 1};
	for (size_t period = 1; period <= MAX_PERIOD; period++) {
		size_t rounds = rounds_of(fiber, *at, period);
		if (rounds >= MIN_ROUNDS && rounds * period >= MIN_FRAMES) {
			ret->period = period;
			ret->rounds = rounds;
			break;
		}
	}
	*at += ret->period * ret->rounds;
	return true;
}
