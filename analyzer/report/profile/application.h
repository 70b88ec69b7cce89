/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PROFILE_APPLICATION_H
#define RCORE_REPORT_PROFILE_APPLICATION_H

#include <stdint.h>

#include "profile/profile.h"

/*
 * Returns, by node, the innermost function of the application on its stack: it
 * called what runs, or what waits, in a gem or in C. 0: there is none. The
 * caller frees the array. NULL: memory is short.
 */
uint32_t *rcore_application_owners(const struct rcore_profile *profile);

#endif
