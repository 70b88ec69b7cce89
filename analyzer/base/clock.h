/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_CLOCK_H
#define RCORE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t rcore_clock_of(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Returns CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t rcore_clock_ns(void)
{
	return rcore_clock_of(CLOCK_MONOTONIC);
}

/* Returns the nanoseconds that this thread has spent on a processor. */
static inline uint64_t rcore_clock_thread_ns(void)
{
	return rcore_clock_of(CLOCK_THREAD_CPUTIME_ID);
}

/* Returns the same, summed over all threads of this process. */
static inline uint64_t rcore_clock_process_ns(void)
{
	return rcore_clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* Returns CLOCK_MONOTONIC in seconds. */
static inline double rcore_clock_seconds(void)
{
	return (double)rcore_clock_ns() / 1e9;
}

#endif
