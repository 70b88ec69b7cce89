/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PROFILE_APPLICATION_H
#define RCORE_REPORT_PROFILE_APPLICATION_H

#include <stdint.h>

#include "profile/profile.h"

/*
 * Returns for each node the innermost function of the application on its stack,
 * or 0 if there is none. That function called what runs, or waits, in a gem or
 * in C. The caller frees the array. Returns NULL if memory is short.
 */
uint32_t *rcore_application_owners(const struct rcore_profile *profile);

#endif
