/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_HUGE_PAGES_H
#define RCORE_BASE_HUGE_PAGES_H

#include <stddef.h>

/*
 * Asks for huge pages for an array of `size` bytes that malloc() returned, if
 * it is large: each page costs a fault, and random accesses to small pages miss
 * the TLB. The kernel may refuse. `array` may be NULL.
 */
void rcore_prefer_huge_pages(void *array, size_t size);

#endif
