/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_SYSTEM_CALLS_H
#define RCORE_SAMPLER_SYSTEM_CALLS_H

#include <stdbool.h>

/* System calls of the machine that rcore was built for. */

/* Returns -1 if this machine has none of this name. */
int rcore_system_call_number(const char *name);
/* Returns NULL if there is none with this number. */
const char *rcore_system_call_name(long number);
/* Returns whether its result is how many bytes it moved. */
bool rcore_system_call_moves_bytes(long number);

#endif
