/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_SECOND_THREAD_H
#define RCORE_BASE_SECOND_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether this process may use more than one processor. */
bool rcore_has_processors(void);

/*
 * Starts a thread that no signal interrupts: signals go to the other threads of
 * the library's user. `attributes` may be NULL. Returns 0 or the error number.
 */
int rcore_second_thread(pthread_t *ret, const pthread_attr_t *attributes, void *(*run)(void *),
			void *argument);

enum { RCORE_HALVES = 2 };

/* Works on the elements [from, to) of a list; `half` is 0 or 1. */
typedef void rcore_half(void *context, int half, size_t from, size_t to);

/*
 * Calls `work` for [0, middle) and for [middle, count), at the same time if
 * there are processors; otherwise once for all, as half 0.
 */
void rcore_in_halves(size_t middle, size_t count, rcore_half *work, void *context);

#endif
