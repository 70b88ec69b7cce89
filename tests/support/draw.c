/* SPDX-License-Identifier: MIT */
#include "draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

uint64_t random_seed(void)
{
	uint64_t seed;
	const char *given = getenv("RCORE_SEED");
	if (given)
		seed = strtoull(given, NULL, 0);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		abort();
	printf("RCORE_SEED=0x%llx\n", (unsigned long long)seed);
	fflush(stdout);
	return seed;
}

/* SplitMix64. */
uint32_t random_below(uint64_t *seed, uint32_t limit)
{
	uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((x ^ x >> 31) >> 32) % limit;
}
