/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_CLOCK_H
#define RCORE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t rcore_clock_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Returns the same in seconds. */
static inline double rcore_clock_seconds(void)
{
	return (double)rcore_clock_ns() / 1e9;
}

#endif
