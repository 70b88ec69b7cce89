/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_PROFILE_SCREEN_H
#define RCORE_CLI_PROFILE_SCREEN_H

#include "command/profile_output.h"

/*
 * Calls rcore_profile_write() for standard output. On a terminal, wraps long
 * lines and starts the pager as for other reports. Errors: those of
 * rcore_profile_write(), OS.
 */
struct rcore_error *rcore_profile_show(const struct rcore_profile_request *request,
				       const struct rcore_inputs *inputs, bool *ret_partial);

#endif
