/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_COUNT_H
#define RCORE_BASE_COUNT_H

/*
 * The number of elements of an array. The compiler warns if it is a pointer
 * (-Wsizeof-pointer-div, part of -Wall).
 */
#define RCORE_COUNT(array) (sizeof(array) / sizeof(*(array)))

#endif
