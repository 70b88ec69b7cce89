/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_PROFILE_SCREEN_H
#define RCORE_CLI_PROFILE_SCREEN_H

#include "command/profile_output.h"

/*
 * rcore_profile_write() to standard output. On a terminal, its text is folded
 * and paged as that of other reports.
 */
struct rcore_error *rcore_profile_show(const struct rcore_profile_request *request,
				       const struct rcore_inputs *inputs, bool *ret_partial);

#endif
