/* SPDX-License-Identifier: MIT */
#include "report/text/process/fold.h"

enum {
	MAX_PERIOD = 32,
	MIN_ROUNDS = 4, /* fewer are easier to read unfolded */
	MIN_ROWS = 10,
};

typedef bool same_lines(const void *lines, size_t a, size_t b);

static size_t rounds_of(const void *lines, size_t count, same_lines *same, size_t first,
			size_t period)
{
	size_t at = first;
	while (at < count && (at < first + period || same(lines, at, at - period)))
		at++;
	return (at - first) / period;
}

bool rcore_fold_lines(const void *lines, size_t count, same_lines *same, size_t *at,
		      struct rcore_fold *ret)
{
	if (*at >= count)
		return false;
	*ret = (struct rcore_fold){.first = *at, .period = 1, .rounds = 1};
	for (size_t period = 1; period <= MAX_PERIOD; period++) {
		size_t rounds = rounds_of(lines, count, same, *at, period);
		if (rounds >= MIN_ROUNDS && rounds * period >= MIN_ROWS) {
			ret->period = period;
			ret->rounds = rounds;
			break;
		}
	}
	*at += ret->period * ret->rounds;
	return true;
}

static bool same_rows(const void *rows, size_t a, size_t b)
{
	return rcore_row_same(rows, a, b);
}

bool rcore_fold_next(const struct rcore_rows *rows, size_t *at, struct rcore_fold *ret)
{
	return rcore_fold_lines(rows, rows->count, same_rows, at, ret);
}
