/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_HOT_H
#define RCORE_BASE_HOT_H

/*
 * Marks a function that each tick of the sampler runs. The linker puts all of
 * these next to each other, in a few pages instead of some forty. That matters
 * because rcore sleeps between ticks: each page and cache line that a tick
 * touches has to be found again.
 */
#define RCORE_HOT __attribute__((hot))

#endif
