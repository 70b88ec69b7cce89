/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_ORDER_H
#define RCORE_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Compare two uint64_t, or structs that begin with one, for qsort() and
 * bsearch().
 */
static inline int rcore_ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static inline int rcore_descending(const void *a, const void *b)
{
	return rcore_ascending(b, a);
}

/*
 * Returns how many of `count` items come before all others, by a binary search.
 * `is_before` is an expression that is true for these items and false for those
 * after them; in it, `index` is the number of the item in question.
 */
#define RCORE_PARTITION_POINT(count, index, is_before)            \
	({                                                        \
		size_t low_ = 0, high_ = (count);                 \
		while (low_ < high_) {                            \
			size_t index = low_ + (high_ - low_) / 2; \
			if (is_before)                            \
				low_ = index + 1;                 \
			else                                      \
				high_ = index;                    \
		}                                                 \
		low_;                                             \
	})

#endif
