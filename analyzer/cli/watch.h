/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_WATCH_H
#define RCORE_CLI_WATCH_H

#include "cli/target.h"

/*
 * --watch: reads a process again every target->watch seconds, and prints which
 * threads and fibers have another stack or wait for something else since the
 * last time. Returns NULL when the user interrupts it or the process has ended.
 * Errors: those of rcore_load(), OS (the output).
 */
struct rcore_error *rcore_cli_watch(const struct rcore_cli_target *target, FILE *out);

#endif
