/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "sampler/sampler_private.h"

uint64_t rcore_sampler_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int rcore_sampler_pid(const struct rcore_sampler *sampler)
{
	return rcore_live_process(sampler->live)->pid;
}
