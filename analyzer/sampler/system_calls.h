/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_SYSTEM_CALLS_H
#define RCORE_SAMPLER_SYSTEM_CALLS_H

#include <stdbool.h>

/* System calls of the machine that rcore was built for. */

/* Returns the number of a system call, or -1 if there is none of this name. */
int rcore_system_call_number(const char *name);
/* Returns the name of a system call, or NULL if there is none. */
const char *rcore_system_call_name(long number);
/* Returns whether a system call returns how many bytes it moved. */
bool rcore_system_call_moves_bytes(long number);
/* Returns whether it starts a thread, which returns from it as well, with 0. */
bool rcore_system_call_returns_twice(long number);

#endif
