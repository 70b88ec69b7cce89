/* SPDX-License-Identifier: MIT */
#include "command/nearest.h"

#include <string.h>

enum { LONGEST = 32, LONG = 6 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns the optimal string alignment distance. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[LONGEST + 1][LONGEST + 1];
	for (size_t i = 0; i <= a_length; i++)
		rows[i][0] = i;
	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		for (size_t j = 1; j <= b_length; j++) {
			size_t best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			best = least(best, rows[i - 1][j] + 1);
			best = least(best, rows[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = least(best, rows[i - 2][j - 2] + 1);
			rows[i][j] = best;
		}
	}
	return rows[a_length][b_length];
}

void rcore_nearest_compare(struct rcore_nearest *nearest, const char *name)
{
	size_t length = strlen(name);
	if (nearest->length < 2 || nearest->length > LONGEST || length > LONGEST)
		return;
	size_t far = distance(nearest->word, nearest->length, name, length);
	if (far > (nearest->length < LONG ? 1 : 2) ||
	    (nearest->name && far >= nearest->distance))
		return;
	nearest->name = name;
	nearest->distance = far;
}
