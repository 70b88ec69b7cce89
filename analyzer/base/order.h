/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_ORDER_H
#define RCORE_BASE_ORDER_H

#include <stdint.h>

/* Compare two uint64_t, for qsort() and bsearch(). */
static inline int rcore_ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static inline int rcore_descending(const void *a, const void *b)
{
	return rcore_ascending(b, a);
}

#endif
